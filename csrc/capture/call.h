/*
** call.h - a call as the hook sees it.
*/
#ifndef TG_CALL_H
#define TG_CALL_H

#include "state/closures.h"
#include "state/coroutine.h"

/* The callee's frame is on top of 't' when it is told of. In the hook a call
   lives in registers: what is not inlined is given parts of it, or a copy. */
typedef struct tg_Call {
  tg_Coroutine *t;
  lua_State *L;
  lua_Debug *ar;
  const void *caller;   /* its frame (i_ci), NULL if there is none */
  const tg_Closure *callee;
  const void *function; /* the callee, as lua_topointer has it */
  bool tail;            /* in place of a visible caller, which exits */
  bool replaces;        /* in place of any frame */
  uint64_t now;
} tg_Call;

#endif
