/*
** states.h - coroutines of LuaJIT: what a dialect has to say of them
** (outside/dialect.h, outside/state.h). The validator of this room.
**
** A stack begins with the coroutine itself, which nothing else does; so most of
** what was freed, and forged words, are told from coroutines. Plain C.
*/
#ifndef TG_JIT_STATES_H
#define TG_JIT_STATES_H

#include "jit/reading.h"

bool tg_jitstates_read (tg_Sight *s, uint64_t at, tg_SeenState *state);
bool tg_jitstates_is_main (tg_Sight *s, const tg_SeenState *state);
uint64_t tg_jitstates_registry (tg_Sight *s, uint64_t shared);
bool tg_jitstates_is_dead (tg_Sight *s, const tg_SeenState *state);
uint64_t tg_jitstates_objects (const tg_Sight *s, uint64_t shared,
                               uint64_t *next);

/* The word for the global_State; from it to what it says, in a main thread. */
uint64_t tg_jitstates_shared_at (const tg_Sight *s);
uint64_t tg_jitstates_distance (const tg_Sight *s);

/* Where C entered the interpreter, on its stack, from a word that may have
   flags. */
TG_INLINE uint64_t tg_jitstates_entry (uint64_t word) {
  return word & ~UINT64_C(3);
}

#endif
