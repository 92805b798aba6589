/*
** state.h - coroutines in another process's memory: whether one is there, and
** what it says of itself.
**
** The validator of the room: whoever has found a place asks here, and nothing
** that is read later leads outside of what was bounded here. Plain C.
*/
#ifndef TG_OUTSIDE_STATE_H
#define TG_OUTSIDE_STATE_H

#include "outside/value.h"

typedef struct tg_SeenState {
  uint64_t at;          /* its lua_State */
  uint64_t shared;      /* its global_State */
  uint64_t frame;       /* the frame that runs */
  uint64_t lowest;      /* the host's, below all others */
  uint64_t stack, top, last;  /* slots */
  uint64_t jump;        /* the innermost protected call, on the C stack of the
                           thread that runs it; 0: none runs it */
  uint8_t status;       /* 0, 1: it has yielded, or the error that ended it */
} tg_SeenState;

/* Whether a coroutine is at that address. */
bool tg_state_read (tg_Sight *s, uint64_t at, tg_SeenState *state);

/* Whether it is the main thread of a state that is whole. */
bool tg_state_is_main (tg_Sight *s, const tg_SeenState *state);

/* The registry, a table. */
uint64_t tg_state_registry (tg_Sight *s, uint64_t shared);

/* The bytes that it says it has in use: what `collectgarbage "count"` says. */
uint64_t tg_state_bytes (const tg_Sight *s, uint64_t shared);

/* Whether it has a frame of its own. */
TG_INLINE bool tg_state_has_frames (const tg_SeenState *state) {
  return state->frame != state->lowest;
}

/* Whether it is over: nothing to run, and nothing to begin with. */
bool tg_state_is_over (const tg_SeenState *state);

#endif
