/* state.c - see state.h. */
#include "outside/state.h"

#include "outside/dialect.h"

#define STACK_MOST (UINT64_C(1200000) * 16)     /* LUAI_MAXSTACK and more */
#define EXTRA_SLOTS 64u         /* beyond the last one, of all releases */
#define YIELDED 1               /* LUA_YIELD */
#define WHITES 0x03u            /* WHITEBITS of lgc.h, */
#define WHITES_54 0x18u         /* and from 5.4 on */

/* In 5.1 frames are an array, which its beginning is known of. */
static uint64_t lowest_of (tg_Sight *s, uint64_t at) {
  if (tg_sight_has(s, AT_FRAME_CALLER))
    return at + (uint64_t)tg_sight_row(s, AT_STATE_LOWEST);
  return tg_sight_word(s, at, AT_STATE_LOWEST);
}

static bool is_stack (const tg_SeenState *state) {
  uint64_t size = state->last - state->stack;
  return state->stack != 0 && state->stack % 8 == 0
         && state->last > state->stack && size <= STACK_MOST
         && size % 16 == 0 && state->top > state->stack
         && (state->top - state->stack) % 16 == 0
         && state->top <= state->last + (uint64_t)EXTRA_SLOTS * 16;
}

uint64_t tg_state_shared_at (const tg_Sight *s) {
  return (s->dialect != NULL) ? s->dialect->shared_at(s)
                              : (uint64_t)tg_sight_row(s, AT_STATE_SHARED);
}

uint64_t tg_state_distance (const tg_Sight *s) {
  if (s->dialect != NULL)
    return s->dialect->distance(s);
  int32_t behind = tg_sight_row(s, AT_MAIN_SHARED);
  int32_t inside = tg_sight_row(s, AT_SHARED_INSIDE);
  int32_t word = tg_sight_row(s, AT_STATE_SHARED);
  return (uint64_t)(int64_t)((behind >= 0 ? behind : -inside) - word);
}

bool tg_state_read (tg_Sight *s, uint64_t at, tg_SeenState *state) {
  *state = (tg_SeenState){.at = at};
  if (s->dialect != NULL)
    return s->dialect->state(s, at, state);
  if (tg_sight_byte(s, at, AT_OBJECT_TAG) != TG_SEEN_THREAD)
    return tg_sight_reject(s, TG_REASON_STATE);
  state->shared = tg_sight_word(s, at, AT_STATE_SHARED);
  state->frame = tg_sight_word(s, at, AT_STATE_FRAME);
  state->lowest = lowest_of(s, at);
  state->stack = tg_sight_word(s, at, AT_STATE_STACK);
  state->last = tg_sight_word(s, at, AT_STATE_LAST);
  state->top = tg_sight_word(s, at, AT_STATE_TOP);
  state->jump = tg_sight_word(s, at, AT_STATE_JUMP);
  state->status = tg_sight_byte(s, at, AT_STATE_STATUS);
  if (!is_stack(state) || state->frame == 0 || state->status > 8)
    return tg_sight_reject(s, TG_REASON_STATE);
  return true;
}

uint64_t tg_state_registry (tg_Sight *s, uint64_t shared) {
  if (s->dialect != NULL)
    return s->dialect->registry(s, shared);
  tg_SeenValue v = tg_seen_slot(s, shared
      + (uint64_t)tg_sight_row(s, AT_SHARED_REGISTRY));
  return (tg_seen_type(v) == TG_SEEN_TABLE) ? v.bits : 0;
}

/* The debt is what was allocated beyond the total; 5.5 has it the other way
   round (lstate.h, gettotalbytes). */
uint64_t tg_state_bytes (const tg_Sight *s, uint64_t shared) {
  uint64_t total = tg_sight_word(s, shared, AT_SHARED_TOTAL);
  if (!tg_sight_has(s, AT_SHARED_DEBT))
    return total;
  uint64_t debt = tg_sight_word(s, shared, AT_SHARED_DEBT);
  return (s->release >= 50500) ? total - debt : total + debt;
}

/* A state that was closed has nothing left but its own block (lua_close), which
   may stay in memory that was freed. No other has so little: the names of
   metamethods and reserved words take more. */
#define CLOSED 2048u            /* bytes at most */

bool tg_state_is_main (tg_Sight *s, const tg_SeenState *state) {
  tg_SeenTable t;
  if (s->dialect != NULL)
    return s->dialect->is_main(s, state);
  uint64_t main = tg_sight_has(s, AT_SHARED_MAIN)
                  ? tg_sight_word(s, state->shared, AT_SHARED_MAIN)
                  : state->shared
                    + (uint64_t)tg_sight_row(s, AT_SHARED_INSIDE);
  uint64_t registry = tg_state_registry(s, state->shared);
  if (main != state->at || registry == 0
      || tg_state_bytes(s, state->shared) <= CLOSED)
    return tg_sight_reject(s, TG_REASON_STATE);
  tg_seen_traverse(s, registry, 0, &t);
  return t.nodes > 0;
}

/* Before its first resume the function is on its stack, above the host's
   slot (lua_resume, auxstatus of lcorolib.c). */
bool tg_state_is_over (const tg_SeenState *state) {
  if (state->status > 1)
    return true;
  return state->status == 0 && !tg_state_has_frames(state)
         && state->top <= state->stack + 16;
}

uint64_t tg_state_objects (const tg_Sight *s, uint64_t shared,
                           uint64_t *next) {
  if (s->dialect != NULL)
    return s->dialect->objects(s, shared, next);
  *next = (uint64_t)tg_sight_row(s, AT_OBJECT_NEXT);
  return shared + (uint64_t)tg_sight_row(s, AT_SHARED_OBJECTS);
}

/* Marked with the white of the cycle before (lgc.h, isdead). */
static bool is_dead (tg_Sight *s, const tg_SeenState *state) {
  if (s->dialect != NULL)
    return s->dialect->is_dead(s, state);
  unsigned whites = (s->release >= 50400) ? WHITES_54 : WHITES;
  unsigned white = tg_sight_byte(s, state->shared, AT_SHARED_COLOUR);
  unsigned marked = tg_sight_byte(s, state->at, AT_OBJECT_MARKED);
  return (marked & (white ^ whites) & whites) != 0;
}

/* From 5.2 on what is freed loses its frames first (lstate.c, freestack), and
   what has yielded has some. */
bool tg_state_is_freed (tg_Sight *s, const tg_SeenState *state) {
  bool resets = s->dialect == NULL && s->release >= 50200;
  return is_dead(s, state) || (resets && state->status == YIELDED
                               && !tg_state_has_frames(state));
}
