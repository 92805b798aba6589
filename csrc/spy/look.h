/*
** look.h - a look at what a state runs while it is being taken: what it is at,
** and what it wants read anew. Private to stack and resumed.
*/
#ifndef TG_SPY_LOOK_H
#define TG_SPY_LOOK_H

#include "spy/stack.h"

typedef struct tg_SpyLook {
  tg_SpyStack *k;
  tg_Sight *s;
  const tg_Finds *states;
  const tg_SpyHint *hint;
  tg_JitWords words;    /* of LuaJIT: those of the hint, */
  tg_JitTick tick;      /* what they say, */
  bool late;            /* and whether memory does not have that any more */
  tg_Reason why;
  bool fresh;           /* what was read is of the last moment */
} tg_SpyLook;

TG_INLINE void tg_spylook_want (tg_SpyLook *x, uint64_t at, size_t size) {
  x->fresh = tg_memory_fresh(x->s->memory, at, size) && x->fresh;
}

TG_INLINE void tg_spylook_want_state (tg_SpyLook *x, uint64_t at) {
  int32_t size = (x->s->jit != NULL) ? tg_jit_row(x->s, SIZE_STATE)
                                     : tg_sight_row(x->s, SIZE_STATE);
  tg_spylook_want(x, at, (size_t)size);
}

#endif
