/*
** kinds.h - what events are: types, and the data that belong to a type.
**
** Two events are of one *kind* if the service would tell the same of them: the
** same type, the same function (by name, place and line, as in reports) and the
** same type-specific data. Kinds are numbered from 0.
**
** Which type a call is, the first that applies:
**
**     SCRIPT_THREAD_EVALUATION   the outermost call of a coroutine but the main
**                                one; a main chunk
**     SCRIPT_COMPILATION         load, loadfile, require
**     GARBAGE_COLLECTION         collectgarbage
**     FUNCTION_CALL              all others
**
** (What the collector does by itself is no call, and the interpreter has hooks
** off while it runs finalizers: nothing of that is in a trace.)
**
** Plain C, one thread. Memory: functions, and what was compiled.
*/
#ifndef TG_KINDS_H
#define TG_KINDS_H

#include "base/intern.h"
#include "profile/funclabels.h"
#include "reader/reader.h"
#include "scope/scope.h"
#include "stream/functions.h"

/* Numbers of the protocol's ScriptThreadType, ScriptType and our own. */
enum {
  TG_SCOPE_COMMON = 1, TG_SCOPE_EVENT = 3,          /* EVALUATION */
  TG_SCOPE_LINKED = 1, TG_SCOPE_EVAL = 4,           /* COMPILATION */
  TG_SCOPE_LUA = 1, TG_SCOPE_C = 2                  /* of a function */
};

typedef struct tg_ScopeKind {
  tg_ScopeType type;
  uint32_t detail;      /* one of the above; 0 of others */
  uint32_t label;       /* its function's, see funclabels.h */
  uint32_t text;        /* of a COMPILATION its url, of a COLLECTION what was
                           asked for: in 'texts'; TG_INTMAP_NONE = not known */
} tg_ScopeKind;

/* What is known of a function, by its id. */
typedef struct tg_ScopeFunction {
  uint32_t kind;        /* of its calls, + 1; 0: not known or not one only */
  uint32_t label;
  uint8_t sort;         /* kinds.c's; 0: not asked for */
} tg_ScopeFunction;

typedef struct tg_ScopeKinds {
  tg_ScopeKind *list;   /* owns */
  uint32_t count, capacity;
  tg_FuncLabels labels; /* owns */
  tg_Intern texts;      /* owns */
  bool arguments;       /* those of packets may be looked at */
  /* private */
  tg_ScopeFunction *functions;  /* owns; by id */
  uint32_t nfunctions;
  tg_IntMap by_data;    /* owns */
} tg_ScopeKinds;

void tg_scopekinds_init (tg_ScopeKinds *k, const tg_Functions *functions,
                         bool arguments);
void tg_scopekinds_free (tg_ScopeKinds *k);   /* zeroed memory is fine */

/* Any function's label; TG_INTMAP_NONE without memory. */
uint32_t tg_scopekinds_label (tg_ScopeKinds *k, tg_FunctionId id);

/*
** The kind of the event that an enteredFrame begins; 'body' if it is the
** outermost of a coroutine that is not the main one. TG_INTMAP_NONE without
** memory.
*/
uint32_t tg_scopekinds_of (tg_ScopeKinds *k, const tg_Packet *p, bool body);

/* Whether a function is a main chunk. */
bool tg_scopekinds_chunk (const tg_Function *f);

#endif
