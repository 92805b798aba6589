/* walk.c - see walk.h. */
#include "jit/walk.h"

#include "jit/frames.h"
#include "jit/protos.h"
#include "jit/states.h"
#include "jit/values.h"
#include "outside/proto.h"
#include "outside/value.h"

#define ENTRIES 10000u          /* into the interpreter; of real ones some
                                   hundreds are the most (LUAI_MAXCCALLS) */
#define FOREIGN 1u              /* what C that Lua calls back goes on with */

typedef struct Walk {
  tg_Sight *s;
  const tg_SeenState *state;
  tg_SeenFrame *list;
  uint32_t most, count;
  uint64_t entry;       /* on the C stack, of the frame that is next */
  uint64_t next;        /* that frame's next instruction; 0: not known */
  uint64_t limit;       /* the end of its variables */
  uint32_t entries;     /* that may still be looked at */
  bool foreign;         /* C has made the call above, below a Lua function */
  const tg_JitInlined *inlined; /* NULL: all frames are on the stack */
  bool strict;          /* a caller must own the instruction that called */
} Walk;

/* Of the stack, or what compiled code would leave there. */
static uint64_t word_at (const Walk *w, uint64_t at) {
  uint64_t word;
  if (w->inlined != NULL && tg_jitinlined_word(w->inlined, at, &word))
    return word;
  return tg_memory_word(w->s->memory, at);
}

static bool is_inlined (const Walk *w, uint64_t frame) {
  return w->inlined != NULL && tg_jitinlined_has(w->inlined, frame);
}

/*
** {==================================================================
** Entries
** ===================================================================
*/

static void pass_entry (Walk *w) {
  if (w->entry == 0 || w->entries == 0) {
    w->entry = 0;
    return;
  }
  w->entries--;
  w->entry = tg_jitstates_entry(tg_jit_word(w->s, w->entry, AT_ENTRY_BEFORE));
}

/* A protected call that C has made has no frame of its own: an entry below 0
   says at which slot it began. */
static bool is_of_above (const Walk *w, uint64_t frame) {
  int32_t results = (int32_t)tg_jit_half(w->s, w->entry, AT_ENTRY_RESULTS);
  if (results >= 0)
    return false;
  uint64_t offset = (uint64_t)(-(int64_t)results);
  return frame < w->state->stack + offset;
}

static void pass_protected (Walk *w, uint64_t frame) {
  while (w->entry != 0 && is_of_above(w, frame))
    pass_entry(w);
}

static bool is_callback (const Walk *w, const tg_JitFrame *f) {
  return f->kind == TG_JIT_LINK_CONTINUED
         && word_at(w, f->at - 3 * TG_JIT_SLOT) == FOREIGN;
}

/* The caller's next instruction, where the frame itself tells it; 0: not. Below
   the function of a metamethod is where its caller goes on. */
static uint64_t return_of (const Walk *w, const tg_JitFrame *f) {
  if (f->kind == TG_JIT_LINK_LUA)
    return f->link;
  if (f->kind == TG_JIT_LINK_CONTINUED)
    return word_at(w, f->at - 2 * TG_JIT_SLOT);
  return 0;
}

/* From a frame's call to what its caller does. */
static void pass_link (Walk *w, const tg_JitFrame *f) {
  w->foreign = tg_jitframes_by_c(f) || is_callback(w, f);
  w->next = return_of(w, f);
  if (!w->foreign)
    return;
  pass_protected(w, f->at);
  pass_entry(w);
  pass_protected(w, f->below);
  w->next = (w->entry != 0) ? tg_jit_word(w->s, w->entry, AT_ENTRY_CODE) : 0;
}

/* }================================================================== */

/*
** {==================================================================
** Frames
** ===================================================================
*/

/* Extra arguments are in a frame of their own, behind the parameters. */
static void take_extra (const tg_SeenProto *p, uint64_t holder,
                        tg_SeenFrame *f) {
  f->extras = holder + (1 + (uint64_t)p->params) * TG_JIT_SLOT;
  if (f->extras < f->slot)
    f->extra = (uint32_t)((f->slot - f->extras) / TG_JIT_SLOT);
}

/* A function that does not own the instruction is half way in or out of a call,
   or its code is compiled: where it is is not known. */
static bool take_code (Walk *w, const tg_JitFrame *from, tg_SeenFrame *f) {
  tg_SeenProto p;
  if (f->is_c)
    return true;
  if (!tg_proto_read(w->s, f->code, &p))
    return tg_sight_reject(w->s, TG_REASON_FUNCTION);
  if (w->next == 0 || w->next % 4 != 0 || !tg_proto_owns(&p, w->next, &f->pc))
    f->pc = -1;
  tg_proto_note(&p, f);
  if (from->kind == TG_JIT_LINK_EXTRA && p.vararg)
    take_extra(&p, from->below, f);
  return true;
}

/* What compiled code keeps for itself is known by its instruction. */
static bool take_function (Walk *w, uint64_t at, tg_SeenFrame *f) {
  tg_SeenProto p;
  bool known;
  f->function = tg_jitvalues_of(word_at(w, at - TG_JIT_SLOT));
  f->is_c = tg_seen_is_c(w->s, f->function, &f->code, &known);
  if (known || w->inlined == NULL || w->next == 0)
    return known;
  f->function = (tg_SeenValue){0};
  known = tg_jitprotos_around(w->s, w->next - 4, &p);
  f->code = p.at;
  return known;
}

static bool take_frame (Walk *w, const tg_JitFrame *from, tg_SeenFrame *f) {
  *f = (tg_SeenFrame){.frame = from->at, .slot = from->at - TG_JIT_SLOT,
                      .base = from->at + TG_JIT_SLOT, .limit = w->limit,
                      .pc = -1, .hooked = w->foreign,
                      .inlined = is_inlined(w, from->at)};
  if (!take_function(w, from->at, f))
    return tg_sight_reject(w->s, TG_REASON_FUNCTION);
  return take_code(w, from, f);
}

static bool read_frame (Walk *w, uint64_t at, tg_JitFrame *f) {
  return tg_jitframes_take(w->s, w->state, at, word_at(w, at), f);
}

/* What an error of calling something else is told from. */
static bool is_dummy (Walk *w, const tg_JitFrame *from) {
  tg_SeenValue v = tg_jitvalues_of(word_at(w, from->at - TG_JIT_SLOT));
  return tg_seen_type(v) == TG_SEEN_THREAD && v.bits == w->state->at;
}

/* One frame, with that of its extra arguments. False: the rest is torn. */
static bool step (Walk *w, tg_JitFrame *from) {
  if (is_dummy(w, from))
    return true;
  if (!take_frame(w, from, &w->list[w->count]))
    return false;
  w->count++;
  if (from->kind != TG_JIT_LINK_EXTRA)
    return true;
  return read_frame(w, from->below, from)
         || tg_sight_reject(w->s, TG_REASON_SLOT);
}

/* A function of the library may be made of instructions, and has no lines. */
static bool owns_call (const Walk *w, const tg_SeenFrame *f) {
  return f->is_c ? tg_jit_byte(w->s, f->function.bits, AT_FUNCTION_KIND) == 0
                 : f->pc >= 0;
}

/* Where what is there must be of one moment: who has 'called' another from
   Lua's instructions owns the one that did, and a link is behind one that
   calls. */
static bool may_go_on (Walk *w, const tg_JitFrame *f, bool called) {
  const tg_SeenFrame *last = (w->count > 0) ? &w->list[w->count - 1] : NULL;
  if (!w->strict)
    return true;
  if (called && last != NULL && !owns_call(w, last))
    return tg_sight_reject(w->s, TG_REASON_CODE);
  return f->kind != TG_JIT_LINK_LUA || tg_jitframes_by_call(w->s, f)
         || tg_sight_reject(w->s, TG_REASON_CODE);
}

static tg_WalkEnd walk_from (Walk *w, uint64_t at) {
  tg_JitFrame f;
  bool called = false;
  while (at > w->state->lowest) {
    if (w->count == w->most)
      return TG_WALK_CUT;
    if (!read_frame(w, at, &f)) {
      tg_sight_reject(w->s, TG_REASON_SLOT);
      return TG_WALK_TORN;
    }
    if (!step(w, &f) || !may_go_on(w, &f, called))
      return TG_WALK_TORN;
    called = f.kind == TG_JIT_LINK_LUA;
    pass_link(w, &f);
    w->limit = tg_jitframes_limit(&f);
    at = f.below;
  }
  return TG_WALK_WHOLE;
}

/* }================================================================== */

/* The end of what the innermost frame holds: where that is in registers, its
   values on the stack cannot be told. */
static uint64_t innermost_limit (const tg_SeenState *state,
                                 const tg_JitRunning *r) {
  return r->exact ? state->top : r->frame + TG_JIT_SLOT;
}

static tg_WalkEnd walk (Walk *w, const tg_JitRunning *r, tg_SeenFrame *list,
                        uint32_t most, uint32_t *count) {
  w->list = list;
  w->most = most;
  w->entry = w->state->jump;
  w->entries = ENTRIES;
  w->next = r->next;
  w->limit = innermost_limit(w->state, r);
  tg_WalkEnd end = walk_from(w, r->frame);
  *count = w->count;
  if (w->count > 0 && r->stale)
    list[0].stale = true;
  return end;
}

tg_WalkEnd tg_jitwalk_from (tg_Sight *s, const tg_SeenState *state,
                            const tg_JitRunning *r,
                            const tg_JitInlined *inlined, tg_SeenFrame *list,
                            uint32_t most, uint32_t *count) {
  Walk w = {.s = s, .state = state, .inlined = inlined, .strict = true};
  return walk(&w, r, list, most, count);
}

tg_WalkEnd tg_jitwalk_still (tg_Sight *s, const tg_SeenState *state,
                             const tg_JitRunning *r, tg_SeenFrame *list,
                             uint32_t most, uint32_t *count) {
  Walk w = {.s = s, .state = state};
  return walk(&w, r, list, most, count);
}
