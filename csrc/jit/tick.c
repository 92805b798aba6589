/* tick.c - see tick.h. */
#include "jit/tick.h"

#include <string.h>

#include "jit/frames.h"
#include "jit/walk.h"
#include "outside/proto.h"
#include "outside/value.h"

/* Which register has what on x86-64 (vm_x64.dasc), by their places in
   tg_Registers: rbx, r14 and rdx; the first six are preserved by C. */
enum { AT_NEXT = 0, AT_TABLE = 4, AT_BASE = 12, PRESERVED = 6 };

/*
** {==================================================================
** Words
** ===================================================================
*/

static size_t stack_words (const tg_JitWords *w) {
  return (w->stack != NULL) ? w->size / 8 : 0;
}

/* A word of the C stack; false: it was not copied. */
static bool stack_word (const tg_JitWords *w, uint64_t at, uint64_t *word) {
  uint64_t offset = at - w->registers->stack;
  if (at < w->registers->stack || offset % 8 != 0
      || offset / 8 >= stack_words(w))
    return false;
  memcpy(word, w->stack + offset, 8);
  return true;
}

/* Registers that C preserves come first, then what is on the stack, up to where
   C entered the interpreter. */
static size_t count_words (const tg_JitWords *w, uint64_t entry) {
  size_t n = stack_words(w);
  uint64_t most = (entry - w->registers->stack) / 8;
  if (entry <= w->registers->stack)
    return PRESERVED;
  return PRESERVED + (size_t)(most < n ? most : n);
}

static uint64_t word_of (const tg_JitWords *w, size_t i) {
  uint64_t word;
  if (i < PRESERVED)
    return w->registers->list[i];
  memcpy(&word, w->stack + 8 * (i - PRESERVED), 8);
  return word;
}

static bool has_word (const tg_JitWords *w, uint64_t entry, uint64_t wanted) {
  size_t n = count_words(w, entry);
  for (size_t i = 0; i < n; i++) {
    if (word_of(w, i) == wanted)
      return true;
  }
  return false;
}

/* }================================================================== */

/*
** {==================================================================
** What it did
** ===================================================================
*/

static bool is_known (const tg_Finds *states, uint64_t shared) {
  for (uint32_t i = 0; i < states->nstates; i++) {
    if (states->shareds[i] == shared)
      return true;
  }
  return false;
}

/* Whether the interpreter was entered there, by a coroutine that there is. */
static bool take_entry (tg_Sight *s, const tg_Finds *states,
                        const tg_JitWords *w, uint64_t entry, tg_JitTick *t) {
  uint64_t at;
  t->entry = entry;
  return stack_word(w, entry + (uint64_t)tg_jit_row(s, AT_ENTRY_STATE), &at)
         && at % 8 == 0 && at > TG_PAGE
         && tg_state_read(s, at, &t->state)
         && is_known(states, t->state.shared);
}

static bool take_trace (tg_JitMachine *m, tg_Sight *s, const tg_Finds *states,
                        const tg_JitWords *w, uint64_t pc, uint64_t stack,
                        tg_JitTick *t) {
  const tg_JitTrace *trace = tg_jitmachine_trace(m, s, states, pc);
  if (trace == NULL || !take_entry(s, states, w, stack + trace->stack, t))
    return false;
  t->doing = TG_JIT_COMPILED;
  t->trace = trace->at;
  t->offset = pc - trace->start;
  return true;
}

/* Whether a word is where one of the two has called C from. */
static bool take_call (tg_JitMachine *m, tg_Sight *s, const tg_Finds *states,
                       const tg_JitWords *w, uint64_t word, uint64_t behind,
                       tg_JitTick *t) {
  if (tg_jitmachine_interprets(m, word)) {
    t->doing = TG_JIT_CALLED;
    return take_entry(s, states, w, behind, t);
  }
  t->calls = true;
  return tg_jitmachine_may_have(m, s, word)
         && take_trace(m, s, states, w, word - 1, behind, t);
}

/* The innermost call by one of the two. What functions have left on the stack
   that have returned may look like one: the coroutine must have been entered
   there. */
static bool find_call (tg_JitMachine *m, tg_Sight *s, const tg_Finds *states,
                       const tg_JitWords *w, tg_JitTick *t) {
  size_t n = stack_words(w);
  for (size_t i = 0; i < n; i++) {
    uint64_t word = word_of(w, PRESERVED + i);
    *t = (tg_JitTick){0};
    if (take_call(m, s, states, w, word,
                  w->registers->stack + 8 * (uint64_t)(i + 1), t)
        && t->state.jump == t->entry)
      return true;
  }
  return false;
}

/* One word is enough, once for a process. */
static void learn (tg_JitMachine *m, tg_Sight *s, const tg_Finds *states,
                   const tg_JitWords *w) {
  size_t n = PRESERVED + stack_words(w);
  for (uint32_t i = 0; i < states->nstates && m->low == 0; i++) {
    for (size_t j = 0; j < n; j++) {
      if (tg_jitmachine_learn(m, s, states->shareds[i], word_of(w, j)))
        return;
    }
  }
}

#define HELPERS 2               /* that call each other, at most */

/* Helpers in machine code have no frame but where they return to. */
static bool take_interpreter (tg_JitMachine *m, tg_Sight *s,
                              const tg_Finds *states, const tg_JitWords *w,
                              tg_JitTick *t) {
  uint64_t at = w->registers->stack, pc = w->registers->pc;
  for (int i = 0; i <= HELPERS && tg_jitmachine_interprets(m, pc); i++) {
    t->doing = TG_JIT_INTERPRETS;
    if (take_entry(s, states, w, at, t))
      return true;
    if (!stack_word(w, at, &pc))
      return false;
    at += 8;
  }
  return false;
}

void tg_jittick_read (tg_JitMachine *m, tg_Sight *s, const tg_Finds *states,
                      const tg_JitWords *w, tg_JitTick *t) {
  const tg_Registers *r = w->registers;
  *t = (tg_JitTick){0};
  if (r->count <= AT_BASE)
    return;
  learn(m, s, states, w);
  if (take_interpreter(m, s, states, w, t))
    return;
  if (take_trace(m, s, states, w, r->pc, r->stack, t)
      || find_call(m, s, states, w, t))
    return;
  *t = (tg_JitTick){0};
}

/* }================================================================== */

/*
** {==================================================================
** Its frames
** ===================================================================
*/

typedef struct Walk {
  tg_Sight *s;
  const tg_JitTick *t;
  const tg_JitWords *words;
  tg_SeenState state;   /* as it was entered at the tick */
  tg_SeenFrame *list;
  uint32_t most;
  uint32_t *count;
} Walk;

/* Whether the frames from there on are whole. */
static bool walk (const Walk *w, uint64_t frame, uint64_t next,
                  const tg_JitInlined *inlined) {
  tg_JitRunning r = {.frame = frame, .next = next};
  return tg_jitwalk_from(w->s, &w->state, &r, inlined, w->list, w->most,
                         w->count) != TG_WALK_TORN && *w->count > 0;
}

/* Whether so are they, and the innermost one owns the instruction. */
static bool walk_owner (const Walk *w, uint64_t frame, uint64_t next,
                        const tg_JitInlined *inlined) {
  return walk(w, frame, next, inlined) && w->list[0].pc >= 0;
}

static bool walk_c (const Walk *w, uint64_t frame) {
  return walk(w, frame, 0, NULL) && w->list[0].is_c;
}

/* ---- the interpreter ---- */

/* A function in C has one instruction, by which it is called; or the register
   has the caller's by then. */
static bool is_called_with (const Walk *w, uint64_t frame, uint64_t next) {
  tg_SeenValue f = tg_jitframes_function(w->s, frame);
  return tg_memory_word(w->s->memory, frame) == next
         || tg_jit_word(w->s, f.bits, AT_FUNCTION_CODE) + 4 == next;
}

/* The caller of a frame, which is at the instruction that is its link. */
static bool walk_caller (const Walk *w, const tg_JitFrame *f) {
  return f->kind == TG_JIT_LINK_LUA && tg_jitframes_by_call(w->s, f)
         && walk_owner(w, f->below, f->link, NULL);
}

/* Half way in or out of a call the instruction is the caller's. What was called
   where the frame was is not known otherwise, but who calls. */
static tg_JitFit walk_callers (const Walk *w, uint64_t at, uint64_t next) {
  const tg_SeenState *state = &w->state;
  tg_JitFrame f;
  if (tg_jitframes_take(w->s, state, at, next, &f) && walk_caller(w, &f))
    return TG_JIT_FIT;
  if (!tg_jitframes_read(w->s, state, at, &f)
      || (f.kind == TG_JIT_LINK_EXTRA
          && !tg_jitframes_read(w->s, state, f.below, &f)))
    return TG_JIT_FIT_LATE;
  return walk_caller(w, &f) ? TG_JIT_FIT_CALLED : TG_JIT_FIT_LATE;
}

/* On the way from C into a function, or back, the register for the instruction
   has where the C function's frame is, or the frame's link. */
static bool walk_border (const Walk *w, uint64_t frame, uint64_t next) {
  uint64_t base = tg_jit_word(w->s, w->state.at, AT_STATE_BASE);
  if (next == base)
    return walk_c(w, base - TG_JIT_SLOT);
  return next == tg_memory_word(w->s->memory, frame)
         && walk(w, frame, 0, NULL);
}

static tg_JitFit walk_interpreted (const Walk *w, uint64_t *next) {
  const tg_Registers *r = w->words->registers;
  uint64_t frame = r->list[AT_BASE] - TG_JIT_SLOT;
  *next = r->list[AT_NEXT];
  if (walk_owner(w, frame, *next, NULL)
      || (is_called_with(w, frame, *next) && walk_c(w, frame)))
    return TG_JIT_FIT;
  tg_JitFit fit = walk_callers(w, frame, *next);
  if (fit != TG_JIT_FIT && walk_border(w, frame, *next))
    return TG_JIT_FIT;
  return fit;
}

/* ---- compiled code ---- */

/* Of a trace whose snapshots do not tell where they are, the function that it
   was entered in. */
static bool walk_entered (const Walk *w, uint64_t base) {
  uint64_t code = tg_jit_word(w->s, w->t->trace, AT_TRACE_PROTO);
  return walk(w, base - TG_JIT_SLOT, 0, NULL) && w->list[0].code == code;
}

static bool walk_based (const Walk *w, tg_JitInlined *x, bool known,
                        uint64_t base) {
  if (base % TG_JIT_SLOT != 0 || base < w->state.lowest)
    return false;
  if (!known)
    return walk_entered(w, base);
  x->base = base;
  return walk_owner(w, tg_jitinlined_frame(x), x->next, x);
}

#define AROUND_MOST 250u        /* slots: as many as a function may have */

/* Where it has been left meanwhile its frame may still be there, around where
   the coroutine was in C last. If there are several that could be, they must
   have the same caller. */
static bool walk_around (const Walk *w, tg_JitInlined *x) {
  uint64_t base = tg_jit_word(w->s, w->state.at, AT_STATE_BASE);
  uint64_t at = base - AROUND_MOST * TG_JIT_SLOT, end = base + (base - at);
  uint64_t found = 0, below = 0;
  for (at = (at < base) ? at : base; at < end; at += TG_JIT_SLOT) {
    tg_JitFrame f;
    if (!tg_jitframes_may_run(w->s, &w->state, at - TG_JIT_SLOT)
        || !tg_jitframes_read(w->s, &w->state, at - TG_JIT_SLOT, &f)
        || !walk_based(w, x, true, at))
      continue;
    if (found != 0 && below != f.below)
      return false;
    found = at;
    below = f.below;
  }
  return found != 0 && walk_based(w, x, true, found);
}

/* Another trace may run in another function by now, which the same one has
   called. */
static tg_JitFit walk_beside (const Walk *w, const tg_JitInlined *x,
                              uint64_t base, uint64_t *next) {
  *next = x->next;
  if (x->innermost != 0)        /* who has called it is not on the stack */
    return TG_JIT_FIT_LATE;
  if (base < w->state.lowest || base > w->state.last)
    base = tg_jit_word(w->s, w->state.at, AT_STATE_BASE);
  return walk_callers(w, base - TG_JIT_SLOT, 0);
}

/* The frame that it was entered with is in memory while it runs, and in a
   register until that is needed for something else. */
static tg_JitFit walk_compiled (const Walk *w, uint64_t *next) {
  tg_JitInlined x;
  uint64_t base = tg_jit_word(w->s, w->state.shared, AT_SHARED_TRACED);
  bool known = tg_jitinlined_read(w->s, w->t->trace, w->t->offset, &x);
  if (walk_based(w, &x, known, base)
      || (!w->t->calls
          && walk_based(w, &x, known, w->words->registers->list[AT_BASE]))
      || (known && walk_around(w, &x)))
    return TG_JIT_FIT;
  return known ? walk_beside(w, &x, base, next) : TG_JIT_FIT_LATE;
}

/* ---- C ---- */

/* While a function in C runs, its address is in a register; while one does that
   is for what the interpreter cannot do itself, the caller's instruction. */
static bool ran_c (const Walk *w, uint64_t frame) {
  tg_SeenValue f = tg_jitframes_function(w->s, frame);
  return has_word(w->words, w->t->entry,
                  tg_jit_word(w->s, f.bits, AT_FUNCTION_C))
         || has_word(w->words, w->t->entry,
                     tg_memory_word(w->s->memory, frame));
}

/* The instruction that is among the words and that a frame's function owns. */
static bool find_next (const Walk *w, uint64_t frame, uint64_t *next) {
  tg_SeenProto p;
  int32_t pc;
  uint64_t code;
  bool known;
  size_t n = count_words(w->words, w->t->entry);
  tg_SeenValue f = tg_jitframes_function(w->s, frame);
  if (tg_seen_is_c(w->s, f, &code, &known) || !known
      || !tg_proto_read(w->s, code, &p))
    return false;
  for (size_t i = 0; i < n; i++) {
    *next = word_of(w->words, i);
    if (*next % 4 == 0 && *next != p.code && tg_proto_owns(&p, *next, &pc))
      return true;
  }
  return stack_word(w->words, w->t->entry
                    + (uint64_t)tg_jit_row(w->s, AT_ENTRY_CODE), next)
         && *next % 4 == 0 && tg_proto_owns(&p, *next, &pc);
}

static bool walk_called_by (const Walk *w, uint64_t frame) {
  uint64_t next;
  if (!tg_jitframes_may_run(w->s, &w->state, frame))
    return false;
  if (find_next(w, frame, &next))
    return walk_owner(w, frame, next, NULL);
  return walk_c(w, frame) && ran_c(w, frame);
}

static tg_JitFit walk_called (const Walk *w) {
  size_t n = count_words(w->words, w->t->entry);
  uint64_t base = tg_jit_word(w->s, w->state.at, AT_STATE_BASE);
  if (walk_called_by(w, base - TG_JIT_SLOT))
    return TG_JIT_FIT;
  for (size_t i = 0; i < n; i++) {
    if (walk_called_by(w, word_of(w->words, i) - TG_JIT_SLOT))
      return TG_JIT_FIT;
  }
  return walk_callers(w, base - TG_JIT_SLOT, 0);
}

/* }================================================================== */

/* C that is next to the interpreter's code may have been taken for it. */
static tg_JitFit walk_any (const Walk *w, uint64_t *next) {
  tg_JitFit fit = walk_interpreted(w, next);
  uint64_t struck = *next;
  if (fit != TG_JIT_FIT_LATE)
    return fit;
  fit = walk_called(w);
  *next = (fit == TG_JIT_FIT_CALLED) ? struck : 0;
  return fit;
}

tg_JitFit tg_jittick_walk (tg_Sight *s, const tg_JitTick *t,
                           const tg_JitWords *words, tg_SeenFrame *list,
                           uint32_t most, uint32_t *count, uint64_t *next) {
  Walk w = {s, t, words, t->state, list, most, count};
  *count = 0;
  *next = 0;
  w.state.jump = t->entry;
  switch (t->doing) {
    case TG_JIT_INTERPRETS: return walk_any(&w, next);
    case TG_JIT_COMPILED: return walk_compiled(&w, next);
    case TG_JIT_CALLED: return walk_called(&w);
    case TG_JIT_ELSEWHERE: default: return TG_JIT_FIT_LATE;
  }
}
