/* stack.c - see stack.h. */
#include "spy/stack.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/grow.h"
#include "jit/walk.h"
#include "spy/resumed.h"

#define ROUNDS 12               /* until all that changes is known, */
#define ROUNDS_NS UINT64_C(500000000)   /* and for so long at most: pages that
                                           there is no room for stay unknown */

void tg_spystack_free (tg_SpyStack *k) {
  tg_free(k->frames);
  tg_jitmachine_free(&k->machine);
  tg_intmap_free(&k->resumed);
  k->frames = NULL;
  k->count = k->capacity = k->nspans = 0;
}

/*
** {==================================================================
** All coroutines
** ===================================================================
*/

/* LuaJIT's frames are slots, too: a function's, and the link behind. */
static void want_slot (tg_SpyLook *x, const tg_SeenFrame *f) {
  if (f->inlined)
    return;
  tg_spylook_want(x, f->slot, 2 * TG_JIT_SLOT);
}

/* Frames' slots, and what a C function may have resumed. */
static void want_slots (tg_SpyLook *x, const tg_SpySpan *span) {
  const tg_SpyStack *k = x->k;
  for (uint32_t i = span->first; i < span->first + span->count; i++)
    want_slot(x, &k->frames[i]);
  if (span->count > 0 && k->frames[span->first].is_c)
    tg_spylook_want(x, k->frames[span->first].base,
                    TG_SPY_VALUES * tg_walk_slot(x->s));
}

static void want_frames (tg_SpyLook *x, const tg_SpySpan *span) {
  size_t size = (size_t)tg_sight_row(x->s, SIZE_FRAME);
  for (uint32_t i = 0; i < span->count; i++) {
    uint64_t at = x->k->frames[span->first + i].frame;
    tg_spylook_want(x, at, size);
  }
}

/* What the walk has rejected since, as one reason. */
static tg_Reason reason_since (const tg_Sight *s, const uint64_t *before) {
  for (int i = 0; i < TG_NREASONS; i++) {
    if (s->rejected[i] != before[i])
      return (tg_Reason)i;
  }
  return TG_REASON_FRAMES;
}

/* LuaJIT: whether it is the coroutine that ran at the tick. */
static bool is_struck (const tg_SpyLook *x, uint64_t at) {
  return x->tick.doing != TG_JIT_ELSEWHERE && at == x->tick.state.at;
}

/* What memory says, which is so of a coroutine that has resumed another, or is
   in C; of one that runs where nothing runs meanwhile. */
static tg_WalkEnd walk_said (tg_SpyLook *x, const tg_SeenState *state,
                             tg_SeenFrame *list, uint32_t *count) {
  tg_JitRunning r;
  bool still = x->hint->still;
  tg_jitrunning_find(x->s, state, still ? x->words.registers : NULL, &r);
  x->late = still ? r.above.kind == TG_ABOVE_UNKNOWN : !r.exact;
  return tg_jitwalk_from(x->s, state, &r, NULL, list, TG_SPY_FRAMES, count);
}

#define NEAR (32 * (uint64_t)TG_PAGE)   /* the frame, below and above */

/* Where no frames were found the pages may be of before. */
static void want_near (tg_SpyLook *x, const tg_SeenState *state) {
  uint64_t low = state->stack, high = state->last;
  if (state->top - low > NEAR)
    low = state->top - NEAR;
  if (high - state->top > NEAR)
    high = state->top + NEAR;
  tg_spylook_want(x, low, (size_t)(high - low));
}

static tg_WalkEnd walk_jit (tg_SpyLook *x, const tg_SeenState *state,
                            tg_SeenFrame *list, uint32_t *count) {
  if (!is_struck(x, state->at))
    return walk_said(x, state, list, count);
  tg_JitFit fit = tg_jittick_walk(x->s, &x->tick, &x->words, list,
                                  TG_SPY_FRAMES, count, &x->k->called);
  if (fit != TG_JIT_FIT)
    want_near(x, state);
  if (x->hint->still && fit != TG_JIT_FIT)
    return walk_said(x, state, list, count);
  x->late = fit == TG_JIT_FIT_LATE;
  x->k->lacks_leaf = fit == TG_JIT_FIT_CALLED;
  return TG_WALK_WHOLE;
}

/* Of a tick what ran is known, and the look is for those that have called it:
   they are as they were, or it is taken again. Without one it would be the long
   calls alone that hold still for so long. */
static bool is_open (const tg_SpyLook *x) {
  return !x->hint->still && x->hint->registers == NULL && x->s->jit == NULL;
}

/* Whether the leaf was left out: it was half way in or out of a call. */
static bool lacks_leaf (const tg_SpyStack *k, const tg_SpySpan *span) {
  return tg_state_has_frames(&span->state)
         && (span->count == 0
             || k->frames[span->first].frame != span->state.frame);
}

static tg_WalkEnd walk_one (tg_SpyLook *x, const tg_SeenState *state,
                            tg_SeenFrame *list, uint32_t *count) {
  if (x->s->jit != NULL)
    return walk_jit(x, state, list, count);
  if (!is_open(x))
    return tg_walk(x->s, state, list, TG_SPY_FRAMES, count);
  return tg_walk_running_on(x->s, state, list, TG_SPY_FRAMES, count);
}

static bool walk_span (tg_SpyLook *x, uint64_t at) {
  tg_SpyStack *k = x->k;
  tg_SpySpan *span = &k->spans[k->nspans];
  uint64_t before[TG_NREASONS];
  memcpy(before, x->s->rejected, sizeof before);
  x->why = TG_REASON_STATE;
  if (!tg_grow(&k->frames, &k->capacity, k->count + TG_SPY_FRAMES,
               sizeof *k->frames)
      || !tg_state_read(x->s, at, &span->state))
    return false;
  span->first = k->count;
  tg_WalkEnd end = walk_one(x, &span->state, k->frames + k->count,
                            &span->count);
  x->why = reason_since(x->s, before);
  if (end == TG_WALK_TORN)
    return false;
  k->count += span->count;
  k->nspans++;
  want_slots(x, span);
  return x->s->jit != NULL || x->hint->still || !lacks_leaf(k, span);
}

/* How deep it is in calls comes before what runs there: that is not of before
   then. 5.1 says beside it which instruction is next, so what runs. */
static void want_depth (tg_SpyLook *x, uint64_t at) {
  tg_Sight *s = x->s;
  uint64_t begin = (uint64_t)tg_sight_row(s, AT_STATE_FRAME), end = begin;
  if (tg_sight_has(s, AT_STATE_NEXT)) {
    uint64_t next = (uint64_t)tg_sight_row(s, AT_STATE_NEXT);
    begin = (next < begin) ? next : begin;
    end = (next > end) ? next : end;
  }
  tg_memory_ahead(s->memory, at + begin, (size_t)(end - begin) + 8);
}

/* The frames of one coroutine, which is the next of the chain. */
static bool walk (tg_SpyLook *x, uint64_t at) {
  tg_spylook_want_state(x, at);
  if (is_open(x))
    want_depth(x, at);
  uint32_t before = x->k->nspans;
  bool good = walk_span(x, at);
  if (x->k->nspans > before && x->s->jit == NULL)
    want_frames(x, &x->k->spans[before]);
  return good;
}

static bool is_in_chain (const tg_SpyStack *k, uint64_t at) {
  for (uint32_t i = 0; i < k->nspans; i++) {
    if (k->spans[i].state.at == at)
      return true;
  }
  return false;
}

/* It has yielded since: of those that are there it is the innermost one's that
   is known to resume it, and that has resumed another. */
static bool walk_struck (tg_SpyLook *x) {
  tg_SpyStack *k = x->k;
  uint64_t at = x->tick.state.at;
  for (uint32_t n = k->nspans - x->late; n > 0; n--) {
    const tg_SpySpan *span = &k->spans[n - 1];
    bool by_c = span->count == 0 || k->frames[span->first].is_c;
    if (!by_c || !tg_spyresumed_knows(k, span->state.at, at))
      continue;
    k->nspans = n;
    k->count = span->first + span->count;
    x->late = false;
    return walk(x, at);
  }
  x->late = true;
  return true;
}

/* Down to the one that runs, as far as that is known. */
static bool walk_resumed (tg_SpyLook *x, uint64_t at) {
  tg_SpyStack *k = x->k;
  while (at != 0 && k->nspans < TG_SPY_COROUTINES && !is_in_chain(k, at)) {
    if (!walk(x, at))
      return false;
    const tg_SpySpan *span = &k->spans[k->nspans - 1];
    if (x->late || is_struck(x, at))
      break;
    at = tg_spyresumed_by(x, &span->state, (span->count > 0)
                          ? &k->frames[span->first] : NULL);
  }
  return true;
}

static bool walk_chain (tg_SpyLook *x, uint64_t main) {
  tg_SpyStack *k = x->k;
  k->nspans = k->count = k->open = 0;
  k->lacks_leaf = false;
  if (!walk_resumed(x, main))
    return false;
  if (x->tick.doing == TG_JIT_ELSEWHERE
      || is_struck(x, k->spans[k->nspans - 1].state.at))
    return true;
  return walk_struck(x);
}

/* }================================================================== */

/*
** {==================================================================
** LuaJIT at a tick
** ===================================================================
*/

/* Whether nothing of a coroutine was on the C stack at the tick: where C has
   entered the interpreter is nowhere, or below what there was. */
static bool was_outside (tg_SpyLook *x, uint64_t at) {
  tg_SeenState state;
  const tg_Registers *r = x->words.registers;
  tg_spylook_want_state(x, at);
  if (!tg_state_read(x->s, at, &state))
    return false;
  return state.jump == 0
         || (state.jump < r->stack
             && tg_jit_word(x->s, state.jump, AT_ENTRY_BEFORE) == 0);
}

/* C that nobody of Lua has called as far as the stack was copied: outside of
   Lua, or in what C has called that Lua has. Whether that is what the look
   shows is not known, as of any Lua; that it runs Lua code is not so. */
static bool walk_elsewhere (tg_SpyLook *x, uint64_t main, uint64_t shared) {
  tg_SpyStack *k = x->k;
  uint64_t running = tg_jit_word(x->s, shared, AT_SHARED_CURRENT);
  if (was_outside(x, main) && was_outside(x, running)) {
    k->spans[0] = (tg_SpySpan){.count = 0};
    k->nspans = 1;
    k->count = 0;
    k->lacks_leaf = false;
    return tg_state_read(x->s, main, &k->spans[0].state);
  }
  return walk_chain(x, main);
}

/* What the tick says is asked each time, since memory has changed. */
static bool walk_state (tg_SpyLook *x, uint32_t state) {
  uint64_t main = x->states->mains[state];
  uint64_t shared = x->states->shareds[state];
  x->late = false;
  if (x->s->jit == NULL)
    return walk_chain(x, main);
  size_t begin = (size_t)tg_jit_row(x->s, AT_SHARED_DOES);
  size_t end = (size_t)tg_jit_row(x->s, AT_SHARED_TRACED) + 8;
  tg_spylook_want(x, shared + begin, end - begin);
  if (x->words.registers == NULL)
    return walk_chain(x, main);
  tg_jittick_read(&x->k->machine, x->s, x->states, &x->words, &x->tick);
  if (x->tick.doing == TG_JIT_ELSEWHERE)
    return walk_elsewhere(x, main, shared);
  tg_spylook_want_state(x, x->tick.state.at);
  return walk_chain(x, main);
}

/* }================================================================== */

/*
** {==================================================================
** Whether it is of one moment
** ===================================================================
*/

tg_SpyLink tg_spystack_link (tg_Sight *s, const tg_SeenFrame *caller,
                             const tg_SeenFrame *f) {
  if (caller->is_c || caller->hooked || caller->finalizer || caller->pc < 0)
    return TG_LINK_UNSAID;
  uint32_t code = tg_memory_half(s->memory, caller->begin
                                            + 4 * (uint64_t)caller->pc);
  int32_t op = (int32_t)(code & (uint32_t)tg_sight_row(s, CODE_KIND));
  uint32_t a = code >> tg_sight_row(s, CODE_AT_A) & 0xff;
  if (op != tg_sight_row(s, OP_CALL) || f->tail || f->extras != 0)
    return TG_LINK_UNSAID;      /* extra arguments move the function's slot */
  uint64_t slot = caller->base + (uint64_t)a * tg_walk_slot(s);
  return (f->slot == slot) ? TG_LINK_SAID : TG_LINK_OTHER;
}

/* What is open is asked later. */
static bool fits (tg_SpyLook *x) {
  const tg_SpyStack *k = x->k;
  if (x->s->jit != NULL)        /* the walk has asked */
    return true;
  for (uint32_t n = 0; n < k->nspans; n++) {
    const tg_SpySpan *span = &k->spans[n];
    uint32_t open = (n + 1 == k->nspans) ? k->open : 0;
    for (uint32_t i = open + 1; i < span->count; i++) {
      const tg_SeenFrame *f = &k->frames[span->first + i - 1];
      if (tg_spystack_link(x->s, f + 1, f) == TG_LINK_OTHER)
        return false;
    }
  }
  return true;
}

/* Of a frame that has called another one function and instruction are as they
   were. */
static bool is_settled (tg_SpyLook *x, const tg_SeenFrame *f) {
  tg_Memory *m = x->s->memory;
  uint64_t frame = f->frame;
  if (x->s->jit != NULL)
    return f->inlined || tg_memory_settled(m, f->slot, 2 * TG_JIT_SLOT);
  return tg_memory_settled(m, frame + (uint64_t)tg_sight_row(x->s,
                                                      AT_FRAME_FUNCTION), 8)
         && tg_memory_settled(m, frame + (uint64_t)tg_sight_row(x->s,
                                                      AT_FRAME_NEXT), 8);
}

/* Coroutines that have resumed another one are as they were. */
static bool resumers_are_settled (tg_SpyLook *x) {
  const tg_SpyStack *k = x->k;
  uint32_t end = k->spans[k->nspans - 1].first;
  for (uint32_t i = 0; i < end; i++) {
    if (!is_settled(x, &k->frames[i]))
      return false;
  }
  return true;
}

/* Whether the leaf is the same function both times. The slot is all that tells
   which one in C it is: if that has changed it is not known. */
static bool leaf_is_settled (tg_SpyLook *x, const tg_SeenState *state,
                             tg_SeenFrame *f) {
  tg_Sight *s = x->s;
  uint64_t depth = state->at + (uint64_t)tg_sight_row(s, AT_STATE_FRAME);
  uint64_t next = tg_sight_has(s, AT_STATE_NEXT)
                  ? state->at + (uint64_t)tg_sight_row(s, AT_STATE_NEXT)
                  : f->frame + (uint64_t)tg_sight_row(s, AT_FRAME_NEXT);
  if (f->is_c && !tg_memory_settled(s->memory, f->slot, tg_walk_slot(s)))
    f->torn = true;
  if (f->torn || !tg_memory_settled(s->memory, depth, 8))
    return false;
  next = tg_memory_again(s->memory, next);
  return f->is_c || (next >= f->begin && next <= f->end);
}

/* Of the one that runs, the outermost frame that has called another one
   meanwhile is there all the time, and what is above it is open. */
static void find_open (tg_SpyLook *x) {
  tg_SpyStack *k = x->k;
  const tg_SpySpan *span = &k->spans[k->nspans - 1];
  uint32_t i = span->count;
  while (i > 1 && is_settled(x, &k->frames[span->first + i - 1]))
    i--;
  k->open = (i > 0) ? i - 1 : 0;
  if (is_open(x) && k->open == 0 && span->count > 1
      && !leaf_is_settled(x, &span->state, &k->frames[span->first]))
    k->open = 1;
}

static bool is_of_one_moment (tg_SpyLook *x) {
  if (x->hint->still || x->k->nspans == 0)
    return true;
  if (!resumers_are_settled(x))
    return false;
  find_open(x);
  return (is_open(x) || x->k->open == 0) && fits(x);
}

/* }================================================================== */

/* Pages of which nobody knew that they change are read with the others the next
   time: that is no sign of anything. */
static tg_Look look_once (tg_SpyLook *x, uint32_t of) {
  tg_SeenState state;
  bool whole = false;
  uint64_t until = tg_clock_monotonic_ns() + ROUNDS_NS;
  for (int i = 0; i == 0 || (i < ROUNDS && tg_clock_monotonic_ns() < until);
       i++) {
    x->fresh = true;
    tg_memory_renew(x->s->memory);
    whole = walk_state(x, of);
    if (x->fresh)
      break;
  }
  if (!whole && !tg_state_read(x->s, x->states->mains[of], &state))
    return TG_LOOK_NONE;
  if (x->fresh && x->late)
    return TG_LOOK_LATE;
  if (!whole || !x->fresh)
    return TG_LOOK_TORN;
  x->why = TG_REASON_FRAMES;
  if (!is_of_one_moment(x))
    return TG_LOOK_TORN;
  if (x->s->jit != NULL)
    tg_spyresumed_learn(x->k);
  return TG_LOOK_GOOD;
}

tg_Look tg_spystack_look (tg_SpyStack *k, tg_Sight *s, const tg_Finds *states,
                          uint32_t state, const tg_SpyHint *hint,
                          tg_Reason *why) {
  tg_SpyLook x = {.k = k, .s = s, .states = states, .hint = hint,
            .words = {hint->registers, hint->top, hint->top_size}};
  tg_Look found = look_once(&x, state);
  *why = x.why;
  return found;
}
