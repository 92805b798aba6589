/* stack.c - see stack.h. */
#include "spy/stack.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/grow.h"

#define SLOT 16u
#define ROUNDS 12               /* until all that changes is known, */
#define ROUNDS_NS UINT64_C(500000000)   /* and for so long at most: pages that
                                           there is no room for stay unknown */
#define VALUES 4u               /* looked at, of a C function's */
#define OTHERS 512u             /* coroutines asked whether they run */

void tg_spystack_free (tg_SpyStack *k) {
  tg_free(k->frames);
  k->frames = NULL;
  k->count = k->capacity = k->nspans = 0;
}

typedef struct Look {
  tg_SpyStack *k;
  tg_Sight *s;
  const tg_SpyHint *hint;
  tg_Reason why;
  bool fresh;           /* what was read is of the last moment */
} Look;

static void want (Look *x, uint64_t at, size_t size) {
  x->fresh = tg_memory_fresh(x->s->memory, at, size) && x->fresh;
}

/*
** {==================================================================
** Who was resumed
** ===================================================================
*/

/* Whether a value is a coroutine that runs above 'state': its protected call is
   further down on the C stack. One that is left over in a slot does not run. */
static bool is_resumed (Look *x, const tg_SeenState *state, uint64_t at) {
  tg_SeenState other;
  if (at == 0 || at == state->at || !tg_state_read(x->s, at, &other)
      || other.shared != state->shared)
    return false;
  want(x, at, (size_t)tg_sight_row(x->s, SIZE_STATE));
  return other.status == 0 && tg_state_has_frames(&other) && other.jump != 0
         && (state->jump == 0 || other.jump < state->jump);
}

static bool is_thread (tg_Sight *s, uint64_t slot, uint64_t *at) {
  tg_SeenValue v = tg_seen_slot(s, slot);
  *at = v.bits;
  return tg_seen_type(v) == TG_SEEN_THREAD;
}

/* coroutine.wrap's functions have their coroutine in an upvalue... */
static uint64_t among_upvalues (Look *x, const tg_SeenState *state,
                                const tg_SeenFrame *f) {
  tg_Sight *s = x->s;
  uint64_t at;
  if (tg_sight_has(s, TAG_LIGHTC)
      && tg_seen_variant(f->function) == tg_sight_row(s, TAG_LIGHTC))
    return 0;
  uint8_t n = tg_sight_byte(s, f->function.bits, AT_CLOSURE_UPVALUES);
  uint64_t list = f->function.bits
                  + (uint64_t)tg_sight_row(s, AT_CLOSURE_VALUES);
  for (uint32_t i = 0; i < n && i < VALUES; i++) {
    if (is_thread(s, list + i * SLOT, &at) && is_resumed(x, state, at))
      return at;
  }
  return 0;
}

/* ...and coroutine.resume has it for an argument. */
static uint64_t among_arguments (Look *x, const tg_SeenState *state,
                                 const tg_SeenFrame *f) {
  uint64_t at;
  for (uint32_t i = 0; i < VALUES; i++) {
    uint64_t slot = f->base + i * SLOT;
    if (slot < f->limit && is_thread(x->s, slot, &at)
        && is_resumed(x, state, at))
      return at;
  }
  return 0;
}

/* Where C has resumed it nobody says so but the interpreter, which has the
   coroutine that it runs in a register. */
static uint64_t among_registers (Look *x, const tg_SeenState *state) {
  const tg_Registers *registers = x->hint->registers;
  for (unsigned i = 0; i < registers->count; i++) {
    uint64_t at = registers->list[i];
    if (at % 8 == 0 && at > TG_PAGE && is_resumed(x, state, at))
      return at;
  }
  return 0;
}

/* Without registers, of those that there are the one that was resumed next: of
   all whose protected call is further down it is the highest. */
static uint64_t among_others (Look *x, const tg_SeenState *state) {
  const tg_SpyHint *hint = x->hint;
  tg_Sight *s = x->s;
  uint64_t jumps[OTHERS], best = 0, found = 0;
  tg_Range list[OTHERS] = {{0}};
  uint32_t n = (hint->nothers < OTHERS) ? hint->nothers : OTHERS;
  memset(jumps, 0, sizeof jumps);
  for (uint32_t i = 0; i < n; i++)
    list[i] = (tg_Range){
      hint->others[i] + (uint64_t)tg_sight_row(s, AT_STATE_JUMP),
      (uint8_t *)&jumps[i], sizeof *jumps};
  s->memory->read(s->memory, list, n);
  for (uint32_t i = 0; i < n; i++) {
    if (jumps[i] > best && (state->jump == 0 || jumps[i] < state->jump)
        && is_resumed(x, state, hint->others[i])) {
      best = jumps[i];
      found = hint->others[i];
    }
  }
  return found;
}

/* 'leaf' is NULL where the host's own frame is the innermost. */
static uint64_t resumed_by (Look *x, const tg_SeenState *state,
                            const tg_SeenFrame *leaf) {
  uint64_t at = 0;
  if (leaf != NULL && !leaf->is_c)
    return 0;
  if (leaf != NULL)
    at = among_upvalues(x, state, leaf);
  if (leaf != NULL && at == 0)
    at = among_arguments(x, state, leaf);
  if (at == 0 && x->hint->registers != NULL)
    return among_registers(x, state);
  return (at == 0) ? among_others(x, state) : at;
}

/* }================================================================== */

/*
** {==================================================================
** All coroutines
** ===================================================================
*/

/* Frames and their slots, and what a C function may have resumed. */
static void want_span (Look *x, const tg_SpySpan *span) {
  const tg_SpyStack *k = x->k;
  size_t size = (size_t)tg_sight_row(x->s, SIZE_FRAME);
  for (uint32_t i = span->first; i < span->first + span->count; i++) {
    want(x, k->frames[i].frame, size);
    want(x, k->frames[i].slot, SLOT);
  }
  if (span->count > 0 && k->frames[span->first].is_c)
    want(x, k->frames[span->first].base, VALUES * SLOT);
}

/* What the walk has rejected since, as one reason. */
static tg_Reason reason_since (const tg_Sight *s, const uint64_t *before) {
  for (int i = 0; i < TG_NREASONS; i++) {
    if (s->rejected[i] != before[i])
      return (tg_Reason)i;
  }
  return TG_REASON_FRAMES;
}

/* Whether the leaf was left out: it was half way in or out of a call. */
static bool lacks_leaf (const tg_SpyStack *k, const tg_SpySpan *span) {
  return tg_state_has_frames(&span->state)
         && (span->count == 0
             || k->frames[span->first].frame != span->state.frame);
}

/* The frames of one coroutine, which is the next of the chain. */
static bool walk (Look *x, uint64_t at) {
  tg_SpyStack *k = x->k;
  tg_SpySpan *span = &k->spans[k->nspans];
  uint64_t before[TG_NREASONS];
  memcpy(before, x->s->rejected, sizeof before);
  want(x, at, (size_t)tg_sight_row(x->s, SIZE_STATE));
  x->why = TG_REASON_STATE;
  if (!tg_grow(&k->frames, &k->capacity, k->count + TG_SPY_FRAMES,
               sizeof *k->frames)
      || !tg_state_read(x->s, at, &span->state))
    return false;
  span->first = k->count;
  tg_WalkEnd end = tg_walk(x->s, &span->state, k->frames + k->count,
                           TG_SPY_FRAMES, &span->count);
  x->why = reason_since(x->s, before);
  if (end == TG_WALK_TORN)
    return false;
  k->count += span->count;
  k->nspans++;
  want_span(x, span);
  return x->hint->still || !lacks_leaf(k, span);
}

static bool is_in_chain (const tg_SpyStack *k, uint64_t at) {
  for (uint32_t i = 0; i < k->nspans; i++) {
    if (k->spans[i].state.at == at)
      return true;
  }
  return false;
}

static bool walk_chain (Look *x, uint64_t main) {
  tg_SpyStack *k = x->k;
  uint64_t at = main;
  k->nspans = k->count = 0;
  while (at != 0 && k->nspans < TG_SPY_COROUTINES && !is_in_chain(k, at)) {
    if (!walk(x, at))
      return false;
    const tg_SpySpan *span = &k->spans[k->nspans - 1];
    at = resumed_by(x, &span->state,
                    (span->count > 0) ? &k->frames[span->first] : NULL);
  }
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Whether it is of one moment
** ===================================================================
*/

/* A call has its function in the slot that the caller's instruction says
   (ldebug.c of each release, funcnamefromcode). Others do not say. */
static bool calls (tg_Sight *s, const tg_SeenFrame *caller,
                   const tg_SeenFrame *f) {
  tg_SeenProto p;
  if (caller->is_c || caller->hooked || caller->finalizer
      || !tg_proto_read(s, caller->code, &p))
    return true;
  uint32_t code = tg_proto_code(s, &p, caller->pc);
  int32_t op = (int32_t)(code & (uint32_t)tg_sight_row(s, CODE_KIND));
  uint32_t a = code >> tg_sight_row(s, CODE_AT_A) & 0xff;
  if (op != tg_sight_row(s, OP_CALL) || f->tail || f->extras != 0)
    return true;                /* extra arguments move the function's slot */
  uint64_t slot = caller->base + (uint64_t)a * SLOT;
  return f->slot == slot;
}

static bool fits (Look *x) {
  const tg_SpyStack *k = x->k;
  for (uint32_t n = 0; n < k->nspans; n++) {
    const tg_SpySpan *span = &k->spans[n];
    for (uint32_t i = 1; i < span->count; i++) {
      const tg_SeenFrame *f = &k->frames[span->first + i - 1];
      if (!calls(x->s, f + 1, f))
        return false;
    }
  }
  return true;
}

/* Of a frame that has called another one function and instruction are as they
   were. */
static bool is_settled (Look *x, uint64_t frame) {
  tg_Memory *m = x->s->memory;
  return tg_memory_settled(m, frame + (uint64_t)tg_sight_row(x->s,
                                                      AT_FRAME_FUNCTION), 8)
         && tg_memory_settled(m, frame + (uint64_t)tg_sight_row(x->s,
                                                      AT_FRAME_NEXT), 8);
}

/* The innermost frame is the last span's first. */
static bool callers_are_settled (Look *x) {
  const tg_SpyStack *k = x->k;
  uint32_t leaf = (k->nspans > 0) ? k->spans[k->nspans - 1].first : 0;
  for (uint32_t i = 0; i < k->count; i++) {
    if (i != leaf && !is_settled(x, k->frames[i].frame))
      return false;
  }
  return true;
}

/* }================================================================== */

/* Pages of which nobody knew that they change are read with the others the next
   time: that is no sign of anything. */
static tg_Look look_once (Look *x, uint64_t main) {
  tg_SeenState state;
  bool whole = false;
  uint64_t until = tg_clock_monotonic_ns() + ROUNDS_NS;
  for (int i = 0; i == 0 || (i < ROUNDS && tg_clock_monotonic_ns() < until);
       i++) {
    x->fresh = true;
    tg_memory_renew(x->s->memory);
    whole = walk_chain(x, main);
    if (x->fresh)
      break;
  }
  if (!whole && !tg_state_read(x->s, main, &state))
    return TG_LOOK_NONE;
  if (!whole || !x->fresh)
    return TG_LOOK_TORN;
  x->why = TG_REASON_FRAMES;
  if (x->hint->still || (fits(x) && callers_are_settled(x)))
    return TG_LOOK_GOOD;
  return TG_LOOK_TORN;
}

tg_Look tg_spystack_look (tg_SpyStack *k, tg_Sight *s, uint64_t main,
                          const tg_SpyHint *hint, tg_Reason *why) {
  Look x = {.k = k, .s = s, .hint = hint};
  tg_Look found = look_once(&x, main);
  *why = x.why;
  return found;
}
