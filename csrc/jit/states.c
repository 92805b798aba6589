/* states.c - see states.h. */
#include "jit/states.h"

#include "jit/values.h"
#include "outside/value.h"

#define SLOTS_MOST (UINT64_C(1) << 20)  /* LUAI_MAXSTACK is 65500 */
#define EXTRA_SLOTS 64u         /* beyond the last one */
#define STATUS_MOST 8
#define WHITES 0x03u            /* LJ_GC_WHITES of lj_gc.h */

/* Between which slots: the first is the coroutine's own, and a frame below all
   others is made of two. */
static bool is_slot (const tg_SeenState *state, uint64_t at) {
  return at % TG_JIT_SLOT == 0 && at >= state->stack + 2 * TG_JIT_SLOT
         && at <= state->last + (uint64_t)EXTRA_SLOTS * TG_JIT_SLOT;
}

static bool is_stack (tg_Sight *s, const tg_SeenState *state, uint64_t base) {
  uint64_t size = state->last - state->stack;
  if (state->stack == 0 || state->stack % TG_JIT_SLOT != 0
      || state->last <= state->stack || size % TG_JIT_SLOT != 0
      || size > SLOTS_MOST * TG_JIT_SLOT || !is_slot(state, state->top)
      || !is_slot(state, base))
    return false;
  tg_SeenValue own = tg_jitvalues_at(s, state->stack);
  return tg_seen_type(own) == TG_SEEN_THREAD && own.bits == state->at;
}

/* What runs on the lowest frame has it in registers (running.h). */
static void take_frame (tg_SeenState *state, uint64_t base) {
  state->lowest = state->stack + TG_JIT_SLOT;
  state->frame = base - TG_JIT_SLOT;
  if (state->jump != 0 && state->frame == state->lowest)
    state->frame = 0;
}

bool tg_jitstates_read (tg_Sight *s, uint64_t at, tg_SeenState *state) {
  if (!tg_jit_is(s, at, TG_JIT_THREAD))
    return tg_sight_reject(s, TG_REASON_STATE);
  uint64_t base = tg_jit_word(s, at, AT_STATE_BASE);
  state->shared = tg_jit_word(s, at, AT_STATE_SHARED);
  state->stack = tg_jit_word(s, at, AT_STATE_STACK);
  state->last = tg_jit_word(s, at, AT_STATE_LAST);
  state->top = tg_jit_word(s, at, AT_STATE_TOP);
  state->jump = tg_jitstates_entry(tg_jit_word(s, at, AT_STATE_ENTRY));
  state->status = tg_jit_byte(s, at, AT_STATE_STATUS);
  if (state->status > STATUS_MOST || !is_stack(s, state, base))
    return tg_sight_reject(s, TG_REASON_STATE);
  if (state->jump != 0)         /* an error's handler runs, if it is not 0 */
    state->status = 0;
  take_frame(state, base);
  return true;
}

uint64_t tg_jitstates_registry (tg_Sight *s, uint64_t shared) {
  tg_SeenValue v = tg_jitvalues_at(s, shared
      + (uint64_t)tg_jit_row(s, AT_SHARED_REGISTRY));
  return (tg_seen_type(v) == TG_SEEN_TABLE) ? v.bits : 0;
}

bool tg_jitstates_is_main (tg_Sight *s, const tg_SeenState *state) {
  uint64_t behind = state->at + (uint64_t)tg_jit_row(s, AT_MAIN_SHARED);
  if (state->shared != behind
      || tg_jit_word(s, state->shared, AT_SHARED_MAIN) != state->at)
    return tg_sight_reject(s, TG_REASON_STATE);
  uint64_t registry = tg_jitstates_registry(s, state->shared);
  return tg_jit_is(s, registry, TG_JIT_TABLE)
         || tg_sight_reject(s, TG_REASON_STATE);
}

bool tg_jitstates_is_dead (tg_Sight *s, const tg_SeenState *state) {
  unsigned white = tg_jit_byte(s, state->shared, AT_SHARED_COLOUR);
  unsigned marked = tg_jit_byte(s, state->at, AT_OBJECT_MARKED);
  return (marked & (white ^ WHITES) & WHITES) != 0;
}

uint64_t tg_jitstates_objects (const tg_Sight *s, uint64_t shared,
                               uint64_t *next) {
  *next = (uint64_t)tg_jit_row(s, AT_OBJECT_NEXT);
  return shared + (uint64_t)tg_jit_row(s, AT_SHARED_OBJECTS);
}

uint64_t tg_jitstates_shared_at (const tg_Sight *s) {
  return (uint64_t)tg_jit_row(s, AT_STATE_SHARED);
}

uint64_t tg_jitstates_distance (const tg_Sight *s) {
  return (uint64_t)(tg_jit_row(s, AT_MAIN_SHARED)
                    - tg_jit_row(s, AT_STATE_SHARED));
}
