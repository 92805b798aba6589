/*
** functions.h - definitions: what is known of each function seen by a stream.
**
** A definition is written once, at first sight, apart from the events that
** refer to it by id, so a ring can drop events and keep them. Entries never
** move and never change once published: a reader on another thread may use
** every id that it found in a committed event. One writer (the traced thread).
*/
#ifndef TG_FUNCTIONS_H
#define TG_FUNCTIONS_H

#include <stdatomic.h>

#include "base/base.h"
#include "stream/texts.h"

/* C functions that mean something to the tracer. */
typedef enum tg_Role {
  TG_ROLE_NONE,
  TG_ROLE_PCALL, TG_ROLE_XPCALL, TG_ROLE_ERROR, TG_ROLE_ASSERT,
  TG_ROLE_RESUME, TG_ROLE_WRAPPED, TG_ROLE_YIELD, TG_ROLE_CREATE,
  TG_ROLE_WRAP, TG_ROLE_CLOSE, TG_ROLE_EXIT,
  TG_ROLE_KEYED,        /* has to do with a key and its value (builtins.h); only
                           in the hook, and where something is redacted */
  TG_ROLE_HANDLER       /* a host's message handler; only in the hook, never in
                           a definition */
} tg_Role;

typedef struct tg_Function {
  char *name;           /* owns; as the manual's "name" rule decides */
  char *url;            /* owns; the chunk's source without '@' */
  char *symbol;         /* owns; of a C function without a name what it is
                           for, or where it is in its library (metaname.h,
                           symbol.h); NULL: not known */
  tg_TextId text;       /* its source among the table's texts, or none */
  const char *source;   /* borrows: that text, the chunk's source as Lua has it,
                           whole for a file, at most TG_SOURCE_MAX bytes for a
                           string; NULL without 'text' */
  size_t source_size;   /* bytes of the whole source */
  uint64_t tail;        /* its last bytes, to tell sources apart */
  char **params;        /* owns; parameter names, zero-terminated strings */
  uint16_t nparams;     /* fixed parameters */
  bool vararg;
  bool is_c;
  bool file;            /* the url is a path: the source began with '@' */
  bool known;           /* its name is that in package.loaded */
  bool own;             /* tracegrip's own: never shown */
  uint32_t line;        /* line of definition; 0 = main chunk or C */
  uint32_t last_line;
  tg_Role role;
} tg_Function;

/* No function: the time of calls that are left out of a document. */
#define TG_FUNCTION_LEFT ((tg_FunctionId)0)

/* Nor are these: what ticks tell of functions that a filter hides, and the time
   in calls in which nothing ran. */
#define TG_FUNCTION_HIDDEN ((tg_FunctionId)UINT32_MAX)
#define TG_FUNCTION_IDLE ((tg_FunctionId)(UINT32_MAX - 1))

/* What samples show the collector as, above the function that it works for. */
#define TG_COLLECTOR_NAME "(garbage collector)"

/* The same for time that others had the processor, though it could have run. */
#define TG_PREEMPTED_NAME "(preempted)"

#define TG_SOURCE_MAX 4096
#define TG_FUNCTIONS_BLOCK 256    /* definitions per block */
#define TG_FUNCTIONS_BLOCKS 16384 /* so at most 4 M definitions */

/* Is told of every definition before it is published. */
typedef void tg_FunctionWatch (void *watcher, tg_FunctionId id,
                               const tg_Function *f);

typedef struct tg_Functions {
  tg_Function *_Atomic blocks[TG_FUNCTIONS_BLOCKS];  /* owns */
  _Atomic uint32_t count;         /* published; id 0 is never used */
  tg_FunctionWatch *watch;        /* of the one writer; NULL: nobody */
  void *watcher;
  tg_Texts texts;                 /* owns; sources, the writer's to look at */
} tg_Functions;

/* An empty table, NULL without memory. */
tg_Functions *tg_functions_new (void);
void tg_functions_free (tg_Functions *fs);

/*
** Takes over all that '*f' owns and gives it an id; 0 without memory (then '*f'
** is still the caller's).
*/
tg_FunctionId tg_functions_add (tg_Functions *fs, const tg_Function *f);

/* From now on 'watch' is called for each definition added; NULL: none is. */
void tg_functions_watch (tg_Functions *fs, tg_FunctionWatch *watch,
                         void *watcher);

/* The same of functions that are shown, those too that are none (see above). */
const tg_Function *tg_functions_shown (const tg_Functions *fs, uint32_t id);

/* What people are shown for its name; NULL: it has none. Packets have the name
   itself. */
TG_INLINE const char *tg_function_title (const tg_Function *f) {
  return f->symbol != NULL ? f->symbol : f->name;
}

/* Whether a call of it may wait for something, as far as is known: a C function
   that is not one of Lua's own that only compute. */
bool tg_function_may_wait (const tg_Function *f);

/* Whether it stands for what the program stands still for: the collector, or
   others that have the processor. */
bool tg_function_is_pause (const tg_Function *f);

/* Frees what a definition owns. */
void tg_function_clear (tg_Function *f);

/* The definition of an id that came from this table. */
TG_INLINE const tg_Function *tg_functions_get (const tg_Functions *fs,
                                               tg_FunctionId id) {
  tg_Function *block = atomic_load_explicit(
      &((tg_Functions *)(uintptr_t)fs)->blocks[id / TG_FUNCTIONS_BLOCK],
      memory_order_acquire);
  return &block[id % TG_FUNCTIONS_BLOCK];
}

/* The definition of any number at all, as a damaged file may have; NULL: the
   table has no such id. The acquire is the other side of the release in
   tg_functions_add. */
TG_INLINE const tg_Function *tg_functions_find (const tg_Functions *fs,
                                                uint32_t id) {
  if (id == 0 || id > atomic_load_explicit(
          &((tg_Functions *)(uintptr_t)fs)->count, memory_order_acquire))
    return NULL;
  return tg_functions_get(fs, id);
}

#endif
