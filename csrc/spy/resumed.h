/*
** resumed.h - which coroutine another one has resumed: nobody says so, but one
** that runs is in an upvalue or an argument of the function in C that did, or,
** where C has resumed it, in a register, or known. Private to stack.
*/
#ifndef TG_SPY_RESUMED_H
#define TG_SPY_RESUMED_H

#include "spy/look.h"

#define TG_SPY_VALUES 4u        /* looked at, of a function in C */

/* 0: it has resumed none. 'leaf' is NULL where the host's own frame is the
   innermost. */
uint64_t tg_spyresumed_by (tg_SpyLook *x, const tg_SeenState *state,
                           const tg_SeenFrame *leaf);

/* Those of a stack are known from then on, as far as there is room. */
void tg_spyresumed_learn (tg_SpyStack *k);

bool tg_spyresumed_knows (const tg_SpyStack *k, uint64_t resumer,
                          uint64_t coroutine);

#endif
