/*
** stacktables.h - stacks as a table of (stack below, frame), the way in which
** profiles keep them.
**
** A func is a function as reports count them: one of a name, a file and a line,
** whatever its ids; or what stands in a coroutine's track for another one that
** runs above it ('away'). A frame is a func and the line that it has reached, a
** stack is a frame above another stack. All are numbered from 0, and what a
** number refers to comes before it. Zeroed memory is empty.
**
** Plain C, one thread. Memory: what distinct stacks there were.
*/
#ifndef TG_STACKTABLES_H
#define TG_STACKTABLES_H

#include "base/base.h"
#include "base/intern.h"
#include "base/intmap.h"
#include "stream/functions.h"

#define TG_STACK_NONE UINT32_MAX    /* the stack of no frames; or no memory */

typedef struct tg_CallFunc {
  tg_FunctionId function;   /* one of them; if away the coroutine's first */
  bool away;
  uint32_t latest;          /* its frame that was asked for last */
} tg_CallFunc;

typedef struct tg_CallFrame {
  uint32_t func;
  uint32_t line;            /* 0 = not known */
} tg_CallFrame;

typedef struct tg_CallStack {
  uint32_t prefix;          /* the stack below; TG_STACK_NONE: none */
  uint32_t frame;
  uint32_t latest;          /* the one above that was asked for last */
} tg_CallStack;

typedef struct tg_StackTables {
  tg_CallFunc *funcs;       /* owns, as all here */
  tg_CallFrame *frames;
  tg_CallStack *stacks;
  uint32_t nfuncs, nframes, nstacks;
  uint32_t cfuncs, cframes, cstacks;
  tg_Intern texts;          /* of funcs: same numbers */
  tg_IntMap by_id, by_line, by_prefix;
  uint32_t latest;          /* as of a stack, for the outermost */
} tg_StackTables;

/* Each is made if there is none yet; TG_STACK_NONE without memory. */
uint32_t tg_stacktables_func (tg_StackTables *c, const tg_Functions *fs,
                              tg_FunctionId function, bool away);
uint32_t tg_stacktables_frame (tg_StackTables *c, uint32_t func, uint32_t line);
uint32_t tg_stacktables_push (tg_StackTables *c, uint32_t prefix,
                              uint32_t frame);

/* The func of a function that runs, if there is one. */
uint32_t tg_stacktables_find (const tg_StackTables *c, tg_FunctionId function);

void tg_stacktables_free (tg_StackTables *c);

#endif
