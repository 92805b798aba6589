/* resumed.c - see resumed.h. */
#include "spy/resumed.h"

#include <string.h>

#define OTHERS 512u             /* coroutines asked whether they run */

/* ---- what differs in memory ---- */

static uint64_t slot_size (const tg_SpyLook *x) {
  return tg_walk_slot(x->s);
}

/* Where the innermost protected call is in a coroutine. */
static uint64_t jump_at (const tg_SpyLook *x, uint64_t at) {
  return at + (uint64_t)(x->s->jit != NULL
                         ? tg_jit_row(x->s, AT_STATE_ENTRY)
                         : tg_sight_row(x->s, AT_STATE_JUMP));
}

/* Upvalues of a function in C. */
static uint64_t values_of (tg_SpyLook *x, tg_SeenValue f, uint8_t *n) {
  tg_Sight *s = x->s;
  *n = 0;
  if (s->jit != NULL) {
    *n = tg_jit_byte(s, f.bits, AT_FUNCTION_CAPTURED);
    return f.bits + (uint64_t)tg_jit_row(s, AT_FUNCTION_VALUES);
  }
  if (tg_sight_has(s, TAG_LIGHTC)
      && tg_seen_variant(f) == tg_sight_row(s, TAG_LIGHTC))
    return 0;
  *n = tg_sight_byte(s, f.bits, AT_CLOSURE_UPVALUES);
  return f.bits + (uint64_t)tg_sight_row(s, AT_CLOSURE_VALUES);
}

/* ---- who was resumed ---- */

/* Whether a value is a coroutine that runs above 'state': its protected call is
   further down on the C stack. One that is left over in a slot does not run. */
static bool is_resumed (tg_SpyLook *x, const tg_SeenState *state, uint64_t at) {
  tg_SeenState other;
  if (at == 0 || at == state->at || !tg_state_read(x->s, at, &other)
      || other.shared != state->shared)
    return false;
  tg_spylook_want_state(x, at);
  return other.status == 0 && tg_state_has_frames(&other) && other.jump != 0
         && (state->jump == 0 || other.jump < state->jump);
}

static bool is_thread (tg_Sight *s, uint64_t slot, uint64_t *at) {
  tg_SeenValue v = tg_seen_slot(s, slot);
  *at = v.bits;
  return tg_seen_type(v) == TG_SEEN_THREAD;
}

/* coroutine.wrap's functions have their coroutine in an upvalue... */
static uint64_t among_upvalues (tg_SpyLook *x, const tg_SeenState *state,
                                const tg_SeenFrame *f) {
  uint64_t at;
  uint8_t n;
  uint64_t list = values_of(x, f->function, &n);
  for (uint32_t i = 0; i < n && i < TG_SPY_VALUES; i++) {
    if (is_thread(x->s, list + i * slot_size(x), &at)
        && is_resumed(x, state, at))
      return at;
  }
  return 0;
}

/* ...and coroutine.resume has it for an argument. */
static uint64_t among_arguments (tg_SpyLook *x, const tg_SeenState *state,
                                 const tg_SeenFrame *f) {
  uint64_t at;
  for (uint32_t i = 0; i < TG_SPY_VALUES; i++) {
    uint64_t slot = f->base + i * slot_size(x);
    if (slot < f->limit && is_thread(x->s, slot, &at)
        && is_resumed(x, state, at))
      return at;
  }
  return 0;
}

/* Where C has resumed it nobody says so but the interpreter, which has the
   coroutine that it runs in a register. */
static uint64_t among_registers (tg_SpyLook *x, const tg_SeenState *state) {
  const tg_Registers *registers = x->hint->registers;
  for (unsigned i = 0; i < registers->count; i++) {
    uint64_t at = registers->list[i];
    if (at % 8 == 0 && at > TG_PAGE && is_resumed(x, state, at))
      return at;
  }
  return 0;
}

/* Without registers, of those that there are the one that was resumed next: of
   all whose protected call is further down it is the highest. One that is new
   may be the one that runs. */
static uint64_t among_others (tg_SpyLook *x, const tg_SeenState *state) {
  const tg_Finds *states = x->states;
  uint64_t jumps[OTHERS], best = 0, found = 0;
  uint64_t running = x->tick.state.at;
  tg_Range list[OTHERS] = {{0}};
  uint32_t n = (states->count < OTHERS) ? states->count : OTHERS;
  memset(jumps, 0, sizeof jumps);
  for (uint32_t i = 0; i < n; i++)
    list[i] = (tg_Range){jump_at(x, states->list[i].at), (uint8_t *)&jumps[i],
                         sizeof *jumps};
  x->s->memory->read(x->s->memory, list, n);
  for (uint32_t i = 0; i < n; i++) {
    if (jumps[i] > best && (state->jump == 0 || jumps[i] < state->jump)
        && is_resumed(x, state, states->list[i].at)) {
      best = jumps[i];
      found = states->list[i].at;
    }
  }
  return (found == 0 && is_resumed(x, state, running)) ? running : found;
}

uint64_t tg_spyresumed_by (tg_SpyLook *x, const tg_SeenState *state,
                           const tg_SeenFrame *leaf) {
  uint64_t at = 0;
  if (leaf != NULL && !leaf->is_c)
    return 0;
  if (leaf != NULL)
    at = among_upvalues(x, state, leaf);
  if (leaf != NULL && at == 0)
    at = among_arguments(x, state, leaf);
  if (at == 0 && x->hint->registers != NULL && x->s->jit == NULL)
    return among_registers(x, state);
  return (at == 0) ? among_others(x, state) : at;
}

/* ---- who is known to resume whom ---- */

static uint64_t resumption_of (uint64_t resumer, uint64_t coroutine) {
  return resumer * UINT64_C(0x9e3779b97f4a7c15) ^ coroutine;
}

#define RESUMED 65536u          /* that are known at most */

void tg_spyresumed_learn (tg_SpyStack *k) {
  if (k->resumed.count >= RESUMED) {
    tg_intmap_free(&k->resumed);
    k->resumed = (tg_IntMap){0};
  }
  for (uint32_t i = 1; i < k->nspans; i++)
    tg_intmap_set(&k->resumed, resumption_of(k->spans[i - 1].state.at,
                                             k->spans[i].state.at), 0);
}

bool tg_spyresumed_knows (const tg_SpyStack *k, uint64_t resumer,
                          uint64_t coroutine) {
  return tg_intmap_find(&k->resumed, resumption_of(resumer, coroutine))
         != TG_INTMAP_NONE;
}
