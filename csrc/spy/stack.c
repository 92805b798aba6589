/* stack.c - see stack.h. */
#include "spy/stack.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/grow.h"
#include "jit/walk.h"

#define ROUNDS 12               /* until all that changes is known, */
#define ROUNDS_NS UINT64_C(500000000)   /* and for so long at most: pages that
                                           there is no room for stay unknown */
#define VALUES 4u               /* looked at, of a C function's */
#define OTHERS 512u             /* coroutines asked whether they run */

void tg_spystack_free (tg_SpyStack *k) {
  tg_free(k->frames);
  tg_jitmachine_free(&k->machine);
  tg_intmap_free(&k->resumed);
  k->frames = NULL;
  k->count = k->capacity = k->nspans = 0;
}

typedef struct Look {
  tg_SpyStack *k;
  tg_Sight *s;
  const tg_Finds *states;
  const tg_SpyHint *hint;
  tg_JitWords words;    /* of LuaJIT: those of the hint, */
  tg_JitTick tick;      /* and what they say */
  bool late;
  tg_Reason why;
  bool fresh;           /* what was read is of the last moment */
} Look;

static void want (Look *x, uint64_t at, size_t size) {
  x->fresh = tg_memory_fresh(x->s->memory, at, size) && x->fresh;
}

/* ---- what differs in memory ---- */

static uint64_t slot_size (const Look *x) {
  return tg_walk_slot(x->s);
}

static void want_state (Look *x, uint64_t at) {
  int32_t size = (x->s->jit != NULL) ? tg_jit_row(x->s, SIZE_STATE)
                                     : tg_sight_row(x->s, SIZE_STATE);
  want(x, at, (size_t)size);
}

/* Where the innermost protected call is in a coroutine. */
static uint64_t jump_at (const Look *x, uint64_t at) {
  return at + (uint64_t)(x->s->jit != NULL
                         ? tg_jit_row(x->s, AT_STATE_ENTRY)
                         : tg_sight_row(x->s, AT_STATE_JUMP));
}

/* Upvalues of a function in C. */
static uint64_t values_of (Look *x, tg_SeenValue f, uint8_t *n) {
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
  want_state(x, at);
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
  uint64_t at;
  uint8_t n;
  uint64_t list = values_of(x, f->function, &n);
  for (uint32_t i = 0; i < n && i < VALUES; i++) {
    if (is_thread(x->s, list + i * slot_size(x), &at)
        && is_resumed(x, state, at))
      return at;
  }
  return 0;
}

/* ...and coroutine.resume has it for an argument. */
static uint64_t among_arguments (Look *x, const tg_SeenState *state,
                                 const tg_SeenFrame *f) {
  uint64_t at;
  for (uint32_t i = 0; i < VALUES; i++) {
    uint64_t slot = f->base + i * slot_size(x);
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
   all whose protected call is further down it is the highest. One that is new
   may be the one that runs. */
static uint64_t among_others (Look *x, const tg_SeenState *state) {
  const tg_Finds *states = x->states;
  uint64_t jumps[OTHERS], best = 0, found = 0;
  uint64_t running = x->tick.state.at;
  tg_Range list[OTHERS] = {{0}};
  uint32_t n = (states->count < OTHERS) ? states->count : OTHERS;
  memset(jumps, 0, sizeof jumps);
  for (uint32_t i = 0; i < n; i++)
    list[i] = (tg_Range){jump_at(x, states->list[i]), (uint8_t *)&jumps[i],
                         sizeof *jumps};
  x->s->memory->read(x->s->memory, list, n);
  for (uint32_t i = 0; i < n; i++) {
    if (jumps[i] > best && (state->jump == 0 || jumps[i] < state->jump)
        && is_resumed(x, state, states->list[i])) {
      best = jumps[i];
      found = states->list[i];
    }
  }
  return (found == 0 && is_resumed(x, state, running)) ? running : found;
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
  if (at == 0 && x->hint->registers != NULL && x->s->jit == NULL)
    return among_registers(x, state);
  return (at == 0) ? among_others(x, state) : at;
}

/* }================================================================== */

/*
** {==================================================================
** All coroutines
** ===================================================================
*/

/* LuaJIT's frames are slots, too: a function's, and the link behind. */
static void want_frame (Look *x, const tg_SeenFrame *f) {
  if (f->inlined)
    return;
  want(x, f->slot, 2 * TG_JIT_SLOT);
  if (x->s->jit == NULL)
    want(x, f->frame, (size_t)tg_sight_row(x->s, SIZE_FRAME));
}

/* Frames and their slots, and what a C function may have resumed. */
static void want_span (Look *x, const tg_SpySpan *span) {
  const tg_SpyStack *k = x->k;
  for (uint32_t i = span->first; i < span->first + span->count; i++)
    want_frame(x, &k->frames[i]);
  if (span->count > 0 && k->frames[span->first].is_c)
    want(x, k->frames[span->first].base, VALUES * slot_size(x));
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

/* LuaJIT: whether it is the coroutine that ran at the tick. */
static bool is_struck (const Look *x, uint64_t at) {
  return x->tick.doing != TG_JIT_ELSEWHERE && at == x->tick.state.at;
}

/* What memory says, which is so of a coroutine that has resumed another, or is
   in C; of one that runs where nothing runs meanwhile. */
static tg_WalkEnd walk_said (Look *x, const tg_SeenState *state,
                             tg_SeenFrame *list, uint32_t *count) {
  tg_JitRunning r;
  bool still = x->hint->still;
  tg_jitrunning_find(x->s, state, still ? x->words.registers : NULL, &r);
  x->late = still ? r.above.kind == TG_ABOVE_UNKNOWN : !r.exact;
  return tg_jitwalk_from(x->s, state, &r, NULL, list, TG_SPY_FRAMES, count);
}

#define NEAR (32 * (uint64_t)TG_PAGE)   /* the frame, below and above */

/* Where no frames were found the pages may be of before. */
static void want_near (Look *x, const tg_SeenState *state) {
  uint64_t low = state->stack, high = state->last;
  if (state->top - low > NEAR)
    low = state->top - NEAR;
  if (high - state->top > NEAR)
    high = state->top + NEAR;
  want(x, low, (size_t)(high - low));
}

static tg_WalkEnd walk_jit (Look *x, const tg_SeenState *state,
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

static tg_WalkEnd walk_one (Look *x, const tg_SeenState *state,
                            tg_SeenFrame *list, uint32_t *count) {
  if (x->s->jit != NULL)
    return walk_jit(x, state, list, count);
  return tg_walk(x->s, state, list, TG_SPY_FRAMES, count);
}

/* The frames of one coroutine, which is the next of the chain. */
static bool walk (Look *x, uint64_t at) {
  tg_SpyStack *k = x->k;
  tg_SpySpan *span = &k->spans[k->nspans];
  uint64_t before[TG_NREASONS];
  memcpy(before, x->s->rejected, sizeof before);
  want_state(x, at);
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
  want_span(x, span);
  return x->s->jit != NULL || x->hint->still || !lacks_leaf(k, span);
}

static bool is_in_chain (const tg_SpyStack *k, uint64_t at) {
  for (uint32_t i = 0; i < k->nspans; i++) {
    if (k->spans[i].state.at == at)
      return true;
  }
  return false;
}

static uint64_t resumption_of (uint64_t resumer, uint64_t coroutine) {
  return resumer * UINT64_C(0x9e3779b97f4a7c15) ^ coroutine;
}

#define RESUMED 65536u          /* that are known at most */

static void learn_resumed (tg_SpyStack *k) {
  if (k->resumed.count >= RESUMED) {
    tg_intmap_free(&k->resumed);
    k->resumed = (tg_IntMap){0};
  }
  for (uint32_t i = 1; i < k->nspans; i++)
    tg_intmap_set(&k->resumed, resumption_of(k->spans[i - 1].state.at,
                                             k->spans[i].state.at), 0);
}

/* It has yielded since: of those that are there it is the innermost one's that
   is known to resume it, and that has resumed another. */
static bool walk_struck (Look *x) {
  tg_SpyStack *k = x->k;
  uint64_t at = x->tick.state.at;
  for (uint32_t n = k->nspans - x->late; n > 0; n--) {
    const tg_SpySpan *span = &k->spans[n - 1];
    bool by_c = span->count == 0 || k->frames[span->first].is_c;
    if (!by_c || tg_intmap_find(&k->resumed,
                                resumption_of(span->state.at, at))
                 == TG_INTMAP_NONE)
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
static bool walk_resumed (Look *x, uint64_t at) {
  tg_SpyStack *k = x->k;
  while (at != 0 && k->nspans < TG_SPY_COROUTINES && !is_in_chain(k, at)) {
    if (!walk(x, at))
      return false;
    const tg_SpySpan *span = &k->spans[k->nspans - 1];
    if (x->late || is_struck(x, at))
      break;
    at = resumed_by(x, &span->state,
                    (span->count > 0) ? &k->frames[span->first] : NULL);
  }
  return true;
}

static bool walk_chain (Look *x, uint64_t main) {
  tg_SpyStack *k = x->k;
  k->nspans = k->count = 0;
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
static bool was_outside (Look *x, uint64_t at) {
  tg_SeenState state;
  const tg_Registers *r = x->words.registers;
  want_state(x, at);
  if (!tg_state_read(x->s, at, &state))
    return false;
  return state.jump == 0
         || (state.jump < r->stack
             && tg_jit_word(x->s, state.jump, AT_ENTRY_BEFORE) == 0);
}

/* C that nobody of Lua has called as far as the stack was copied: outside of
   Lua, or in what C has called that Lua has. Whether that is what the look
   shows is not known, as of any Lua; that it runs Lua code is not so. */
static bool walk_elsewhere (Look *x, uint64_t main, uint64_t shared) {
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
static bool walk_state (Look *x, uint32_t state) {
  uint64_t main = x->states->mains[state];
  uint64_t shared = x->states->shareds[state];
  x->late = false;
  if (x->s->jit == NULL)
    return walk_chain(x, main);
  size_t begin = (size_t)tg_jit_row(x->s, AT_SHARED_DOES);
  size_t end = (size_t)tg_jit_row(x->s, AT_SHARED_TRACED) + 8;
  want(x, shared + begin, end - begin);
  if (x->words.registers == NULL)
    return walk_chain(x, main);
  tg_jittick_read(&x->k->machine, x->s, x->states, &x->words, &x->tick);
  if (x->tick.doing == TG_JIT_ELSEWHERE)
    return walk_elsewhere(x, main, shared);
  want_state(x, x->tick.state.at);
  return walk_chain(x, main);
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
  uint64_t slot = caller->base + (uint64_t)a * tg_walk_slot(s);
  return f->slot == slot;
}

static bool fits (Look *x) {
  const tg_SpyStack *k = x->k;
  if (x->s->jit != NULL)        /* the walk has asked */
    return true;
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
static bool is_settled (Look *x, const tg_SeenFrame *f) {
  tg_Memory *m = x->s->memory;
  uint64_t frame = f->frame;
  if (x->s->jit != NULL)
    return f->inlined || tg_memory_settled(m, f->slot, 2 * TG_JIT_SLOT);
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
    if (i != leaf && !is_settled(x, &k->frames[i]))
      return false;
  }
  return true;
}

/* }================================================================== */

/* Pages of which nobody knew that they change are read with the others the next
   time: that is no sign of anything. */
static tg_Look look_once (Look *x, uint32_t of) {
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
  if (!x->hint->still && !(fits(x) && callers_are_settled(x)))
    return TG_LOOK_TORN;
  if (x->s->jit != NULL)
    learn_resumed(x->k);
  return TG_LOOK_GOOD;
}

tg_Look tg_spystack_look (tg_SpyStack *k, tg_Sight *s, const tg_Finds *states,
                          uint32_t state, const tg_SpyHint *hint,
                          tg_Reason *why) {
  Look x = {.k = k, .s = s, .states = states, .hint = hint,
            .words = {hint->registers, hint->top, hint->top_size}};
  tg_Look found = look_once(&x, state);
  *why = x.why;
  return found;
}
