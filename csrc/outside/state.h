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

/* In a coroutine: where the word for its global_State is. Of a main thread: how
   far what that word says is from the word itself. */
uint64_t tg_state_shared_at (const tg_Sight *s);
uint64_t tg_state_distance (const tg_Sight *s);

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

/* Where the word is that names the newest of a state's objects, all of which
   are on one list; '*next': where in each is the word that names the one made
   before. */
uint64_t tg_state_objects (const tg_Sight *s, uint64_t shared, uint64_t *next);

/* Whether its own words say that the collector has freed it, or will, since
   nothing refers to it. They need not: objectlist.h. */
bool tg_state_is_freed (tg_Sight *s, const tg_SeenState *state);

#endif
