/* walk.c - see walk.h. */
#include "outside/walk.h"

#include <string.h>

#include "outside/dialect.h"

#define SLOT 16u

/* ---- one frame ---- */

/* Bits of a frame; of another width in each series. 5.1 has none. */
static uint32_t status_of (tg_Sight *s, uint64_t frame) {
  switch (tg_sight_row(s, SIZE_STATUS)) {
    case 1: return tg_sight_byte(s, frame, AT_FRAME_STATUS);
    case 2: return tg_sight_half(s, frame, AT_FRAME_STATUS) & 0xffff;
    case 4: return tg_sight_half(s, frame, AT_FRAME_STATUS);
    default: return 0;
  }
}

#define HAS(s, status, bit) \
  (tg_sight_has(s, bit) && ((status) & (uint32_t)tg_sight_row(s, bit)) != 0)

static void take_status (tg_Sight *s, tg_SeenFrame *f) {
  uint32_t status = status_of(s, f->frame);
  f->tail = HAS(s, status, STATUS_TAIL);
  f->finalizer = HAS(s, status, STATUS_FINALIZER);
  f->hooked = HAS(s, status, STATUS_HOOKED);
  if (tg_sight_has(s, AT_FRAME_TAILS))
    f->tail = tg_sight_half(s, f->frame, AT_FRAME_TAILS) != 0;
}

/* What the frame itself says, where it does. */
static bool says_c (tg_Sight *s, const tg_SeenFrame *f, bool otherwise) {
  uint32_t status = status_of(s, f->frame);
  if (tg_sight_has(s, STATUS_C))
    return HAS(s, status, STATUS_C);
  if (tg_sight_has(s, STATUS_LUA))
    return !HAS(s, status, STATUS_LUA);
  return otherwise;
}

static bool take_function (tg_Sight *s, tg_SeenFrame *f) {
  bool known;
  f->function = tg_seen_slot(s, f->slot);
  f->is_c = tg_seen_is_c(s, f->function, &f->code, &known);
  if (!known || says_c(s, f, f->is_c) != f->is_c)
    return tg_sight_reject(s, TG_REASON_FUNCTION);
  if (f->is_c && tg_sight_has(s, AT_FRAME_TAILS))
    f->tail = false;            /* set of Lua functions alone (lvm.c, 5.1) */
  return true;
}

/* Extra arguments are between the function and its variables, or below it
   (ltm.c, luaT_adjustvarargs; ldo.c, adjust_varargs). */
static void take_extra (tg_Sight *s, const tg_SeenProto *p, tg_SeenFrame *f) {
  uint64_t room;
  if (!p->hidden)
    return;
  if (tg_sight_has(s, AT_FRAME_EXTRA)) {
    f->extra = tg_sight_half(s, f->frame, AT_FRAME_EXTRA);
    f->extras = f->slot - (uint64_t)f->extra * SLOT;
  }
  else {
    f->extras = f->slot + (p->params + 1u) * SLOT;
    room = f->base - f->extras;
    f->extra = (f->base > f->extras) ? (uint32_t)(room / SLOT) : 0;
  }
  if (f->extra > 1000000)
    f->extra = 0;
}

/* 5.1 keeps the running frame's instruction in the coroutine. */
static uint64_t next_of (tg_Sight *s, const tg_SeenState *state,
                         const tg_SeenFrame *f) {
  if (tg_sight_has(s, AT_STATE_NEXT) && f->frame == state->frame)
    return tg_sight_word(s, state->at, AT_STATE_NEXT);
  return tg_sight_word(s, f->frame, AT_FRAME_NEXT);
}

/* Whether the function owns the instruction. */
static bool take_code (tg_Sight *s, const tg_SeenState *state,
                       tg_SeenFrame *f) {
  tg_SeenProto p;
  f->pc = -1;
  f->base = f->slot + SLOT;
  if (f->is_c)
    return true;
  if (!tg_proto_read(s, f->code, &p))
    return tg_sight_reject(s, TG_REASON_FUNCTION);
  if (tg_sight_has(s, AT_FRAME_BASE))
    f->base = tg_sight_word(s, f->frame, AT_FRAME_BASE);
  if (!tg_proto_owns(&p, next_of(s, state, f), &f->pc))
    return tg_sight_reject(s, TG_REASON_CODE);
  tg_proto_note(&p, f);
  take_extra(s, &p, f);
  return true;
}

/* ---- all of them ---- */

static uint64_t caller_of (tg_Sight *s, const tg_SeenState *state,
                           uint64_t frame) {
  if (tg_sight_has(s, AT_FRAME_CALLER))
    return tg_sight_word(s, frame, AT_FRAME_CALLER);
  uint64_t size = (uint64_t)tg_sight_row(s, SIZE_FRAME);
  bool inside = frame > state->lowest && (frame - state->lowest) % size == 0;
  return inside ? frame - size : 0;
}

static bool take_frame (tg_Sight *s, const tg_SeenState *state,
                        uint64_t frame, uint64_t above, tg_SeenFrame *f) {
  *f = (tg_SeenFrame){.frame = frame, .limit = above};
  f->slot = tg_sight_word(s, frame, AT_FRAME_FUNCTION);
  if (f->slot < state->stack || f->slot >= above || f->slot % 8 != 0)
    return tg_sight_reject(s, TG_REASON_SLOT);
  take_status(s, f);
  return true;
}

/* The leaf as it is half way in or out of a call. */
static bool is_between (tg_Sight *s, const tg_SeenState *state,
                        tg_SeenFrame *f) {
  return !take_function(s, f) || !take_code(s, state, f);
}

/* What a frame says without its slot. 5.1 says of a leaf alone which
   instruction is next, and of none whether it is of C. */
static void take_torn (tg_Sight *s, const tg_SeenState *state,
                       tg_SeenFrame *f) {
  f->torn = true;
  f->code = 0;
  f->pc = -1;
  f->base = tg_sight_has(s, AT_FRAME_BASE)
            ? tg_sight_word(s, f->frame, AT_FRAME_BASE) : f->slot + SLOT;
  f->is_c = says_c(s, f, false);
  f->next = next_of(s, state, f);
}

static void finish_leaf (tg_Sight *s, const tg_SeenState *state,
                         tg_SeenFrame *f) {
  f->limit = (state->top > f->slot) ? state->top : f->base;
  f->stale = !f->is_c && state->jump != 0 && tg_walk_is_stale(s);
  f->next = next_of(s, state, f);
}

static tg_WalkEnd walk (tg_Sight *s, const tg_SeenState *state,
                        tg_SeenFrame *list, uint32_t most, uint32_t *count,
                        bool torn) {
  uint64_t frame = state->frame, above = state->last + 64 * SLOT;
  tg_SeenFrame f;
  *count = 0;
  while (frame != state->lowest) {
    if (*count == most)
      return TG_WALK_CUT;
    if (frame == 0 || !take_frame(s, state, frame, above, &f))
      return TG_WALK_TORN;
    bool between = is_between(s, state, &f);
    if (between && torn)
      take_torn(s, state, &f);
    if (!between || torn)
      list[(*count)++] = f;
    else if (frame != state->frame)
      return TG_WALK_TORN;
    above = f.slot;
    frame = caller_of(s, state, frame);
  }
  if (*count > 0 && list[0].frame == state->frame)
    finish_leaf(s, state, &list[0]);
  return TG_WALK_WHOLE;
}

tg_WalkEnd tg_walk (tg_Sight *s, const tg_SeenState *state, tg_SeenFrame *list,
                    uint32_t most, uint32_t *count) {
  return walk(s, state, list, most, count, false);
}

tg_WalkEnd tg_walk_running_on (tg_Sight *s, const tg_SeenState *state,
                               tg_SeenFrame *list, uint32_t most,
                               uint32_t *count) {
  return walk(s, state, list, most, count, true);
}

/* ---- the leaf's instruction ---- */

/* An interpreter that is at an instruction has fetched it already, so the
   address is behind the first one. */
static bool is_next (const tg_SeenProto *p, uint64_t word, int32_t *pc) {
  return word != p->code && tg_proto_owns(p, word, pc);
}

/* C functions that the interpreter calls keep its registers on the stack. */
static bool find_on_stack (tg_Sight *s, const tg_SeenProto *p, uint64_t from,
                           uint64_t to, int32_t *pc) {
  uint64_t end = (to - from < 4096) ? to : from + 4096;
  for (uint64_t at = from & ~UINT64_C(7); at < end; at += 8) {
    if (is_next(p, tg_memory_word(s->memory, at), pc))
      return true;
  }
  return false;
}

void tg_walk_refine (tg_Sight *s, const tg_SeenState *state,
                     tg_SeenFrame *leaf, const tg_Registers *registers) {
  tg_SeenProto p;
  if (!leaf->stale || !tg_proto_read(s, leaf->code, &p))
    return;
  bool begins = false;
  for (unsigned i = 0; i < registers->count; i++) {
    if (is_next(&p, registers->list[i], &leaf->pc)) {
      leaf->stale = false;
      return;
    }
    begins = begins || registers->list[i] == p.code;
  }
  if (registers->stack < state->jump
      && find_on_stack(s, &p, registers->stack, state->jump, &leaf->pc))
    leaf->stale = false;
  else if (begins) {            /* it has just been entered */
    leaf->pc = 0;
    leaf->stale = false;
  }
}

tg_WalkEnd tg_walk_running (tg_Sight *s, const tg_SeenState *state,
                            const tg_Registers *registers, tg_SeenFrame *list,
                            uint32_t most, uint32_t *count,
                            tg_SeenAbove *above) {
  *above = (tg_SeenAbove){.kind = TG_ABOVE_NOTHING};
  if (s->dialect != NULL)
    return s->dialect->walk(s, state, registers, list, most, count, above);
  tg_WalkEnd end = tg_walk(s, state, list, most, count);
  if (*count > 0 && registers != NULL && registers->count > 0)
    tg_walk_refine(s, state, &list[0], registers);
  return end;
}

uint32_t tg_walk_slot (const tg_Sight *s) {
  return (s->dialect != NULL) ? s->dialect->slot : SLOT;
}
