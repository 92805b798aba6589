/* leaf.c - see leaf.h. */
#include "spy/leaf.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

#define CODES 65536u            /* functions that are known at most, */
#define CALLS 1000000u          /* and calls */
#define NONE UINT32_MAX

void tg_spyleaves_free (tg_SpyLeaves *l) {
  tg_free(l->list);
  tg_intmap_free(&l->constants);
  tg_intmap_free(&l->calls);
  *l = (tg_SpyLeaves){0};
}

/*
** {==================================================================
** Functions whose code is known
** ===================================================================
*/

/* The first that begins behind an address. */
static uint32_t place_of (const tg_SpyLeaves *l, uint64_t at) {
  uint32_t low = 0, high = l->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (l->list[middle].start <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Whose instructions an address is behind: the next one is known. */
static uint32_t owner_of (const tg_SpyLeaves *l, uint64_t next) {
  uint32_t place = place_of(l, next - 1);
  if (next % 4 != 0 || place == 0)
    return NONE;
  const tg_SpyCode *c = &l->list[place - 1];
  return next > c->start && next <= c->end ? place - 1 : NONE;
}

/* Places by constants move with the list. A function may have none. */
static void number (tg_SpyLeaves *l, uint32_t from) {
  for (uint32_t i = from; i < l->count; i++) {
    if (l->list[i].constants != 0)
      tg_intmap_set(&l->constants, l->list[i].constants, i);
  }
}

/* Its constants may be where another function's are by now. */
static void drop (tg_SpyLeaves *l, uint32_t place) {
  uint64_t constants = l->list[place].constants;
  if (constants != 0 && tg_intmap_find(&l->constants, constants) == place)
    tg_intmap_drop(&l->constants, constants);
  memmove(&l->list[place], &l->list[place + 1],
          (l->count - place - 1) * sizeof *l->list);
  l->count--;
  number(l, place);
}

/* Code that is where this is now has gone. */
static void add (tg_SpyLeaves *l, const tg_SpyCode *c) {
  uint32_t place = place_of(l, c->start);
  while (place > 0 && l->list[place - 1].end > c->start) {
    drop(l, place - 1);
    place--;
  }
  while (place < l->count && l->list[place].start < c->end)
    drop(l, place);
  if (l->count == CODES
      || !tg_grow(&l->list, &l->capacity, l->count + 1, sizeof *l->list))
    return;
  memmove(&l->list[place + 1], &l->list[place],
          (l->count - place) * sizeof *l->list);
  l->list[place] = *c;
  l->count++;
  number(l, place);
}

/* LuaJIT's functions in machine code have an instruction each. */
static void meet_fast (tg_SpyLeaves *l, const tg_SeenFrame *f) {
  uint32_t place = owner_of(l, f->code + 4);
  tg_SpyCode c = {.start = f->code, .end = f->code + 4, .frame = *f};
  if (f->code % 4 == 0
      && (place == NONE || l->list[place].frame.code != f->code))
    add(l, &c);
}

static bool is_met (const tg_SpyLeaves *l, const tg_SeenFrame *f) {
  uint32_t place = owner_of(l, f->begin + 4);
  const tg_SpyCode *c = (place != NONE) ? &l->list[place] : NULL;
  return c != NULL && c->start == f->begin && c->frame.code == f->code
         && c->frame.source == f->source && c->frame.line == f->line;
}

static void meet (tg_SpyLeaves *l, tg_Sight *s, const tg_SeenFrame *f) {
  if (f->is_c && s->jit != NULL)
    meet_fast(l, f);
  if (f->is_c || f->torn || is_met(l, f))
    return;
  tg_SpyCode c = {
    .start = f->begin, .end = f->end, .frame = *f,
    .constants = (s->jit == NULL) ? tg_sight_word(s, f->code,
                                                  AT_PROTO_CONSTANTS) : 0
  };
  add(l, &c);
}

/* Whether the function is still there. */
static bool is_current (tg_Sight *s, const tg_SpyCode *c) {
  tg_SeenProto p;
  bool known;
  uint64_t code;
  if (c->frame.is_c)
    return tg_seen_is_c(s, c->frame.function, &code, &known)
           && code == c->start;
  return tg_proto_read(s, c->frame.code, &p) && p.code == c->start
         && p.source == c->frame.source && p.line == c->frame.line;
}

const tg_SpyCode *tg_spyleaves_owner (const tg_SpyLeaves *l, tg_Sight *s,
                                      uint64_t next) {
  uint32_t place = owner_of(l, next);
  if (place == NONE)            /* of one that has just been entered */
    place = owner_of(l, next + 4);
  return (place != NONE && is_current(s, &l->list[place])) ? &l->list[place]
                                                           : NULL;
}

/* }================================================================== */

/*
** {==================================================================
** What a tick says
** ===================================================================
*/

typedef struct Struck {
  const tg_SpyCode *code;       /* NULL: not known */
  int32_t pc;                   /* -1: not known */
} Struck;

static uint64_t word_of (const tg_SpyTick *tick, size_t i) {
  uint64_t word;
  if (i < tick->registers.count)
    return tick->registers.list[i];
  memcpy(&word, tick->stack + 8 * (i - tick->registers.count), 8);
  return word;
}

static size_t words_of (const tg_SpyTick *tick) {
  size_t n = tick->registers.count;
  size_t most = (tick->stack_size < TG_SPY_STACK) ? tick->stack_size
                                                  : TG_SPY_STACK;
  return (tick->stack != NULL) ? n + most / 8 : n;
}

/* Where an instruction of known code is named. 5.2 and 5.3 have the next one in
   memory, and in registers what is left of some other one. */
static Struck by_instruction (const tg_SpyLeaves *l, const tg_Sight *s,
                              const tg_SpyTick *tick) {
  size_t n = words_of(tick);
  if (!tg_walk_is_stale(s) || l->count == 0)
    n = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t word = word_of(tick, i);
    uint32_t place = owner_of(l, word);
    if (place != NONE)
      return (Struck){&l->list[place],
                      (int32_t)((word - l->list[place].start) / 4) - 1};
  }
  return (Struck){NULL, -1};
}

/* All interpreters have a register for where the function's constants are. */
static Struck by_constants (const tg_SpyLeaves *l, const tg_SpyTick *tick) {
  size_t n = words_of(tick);
  for (size_t i = 0; i < n; i++) {
    uint64_t word = word_of(tick, i);
    uint32_t place = (word != 0) ? tg_intmap_find(&l->constants, word) : NONE;
    if (place < l->count)
      return (Struck){&l->list[place], -1};
  }
  return (Struck){NULL, -1};
}

/* Registers that a called function leaves alone come first, then others, then
   what C has put on the stack, the latest first. */
static Struck find_struck (const tg_SpyLeaves *l, const tg_Sight *s,
                           const tg_SpyTick *tick) {
  Struck at = by_instruction(l, s, tick);
  return (at.code != NULL) ? at : by_constants(l, tick);
}

/* }================================================================== */

/*
** {==================================================================
** Calls
** ===================================================================
*/

static uint64_t call_of (uint64_t caller, uint64_t callee) {
  return caller * UINT64_C(0x9e3779b97f4a7c15) ^ callee;
}

static bool has_called (const tg_SpyLeaves *l, uint64_t caller,
                        uint64_t callee) {
  return tg_intmap_find(&l->calls, call_of(caller, callee)) != TG_INTMAP_NONE;
}

bool tg_spyleaves_calls (const tg_SpyLeaves *l, uint64_t caller,
                         uint64_t callee) {
  return has_called(l, caller, callee);
}

bool tg_spyleaves_learn (tg_SpyLeaves *l, uint64_t caller, uint64_t callee) {
  return l->calls.count < CALLS && !has_called(l, caller, callee)
         && tg_intmap_set(&l->calls, call_of(caller, callee), 0);
}

/* All calls of the last coroutine, of which most are known. */
static void learn (tg_SpyLeaves *l, const tg_SpyStack *k) {
  const tg_SpySpan *span = &k->spans[k->nspans - 1];
  for (uint32_t i = 1; i < span->count; i++) {
    const tg_SeenFrame *f = &k->frames[span->first + i];
    tg_spyleaves_learn(l, f->code, f[-1].code);
  }
}

/* }================================================================== */

/*
** {==================================================================
** The stack as it was
** ===================================================================
*/

static void set_pc (tg_SeenFrame *f, const Struck *at) {
  if (at->pc >= 0) {
    f->pc = at->pc;
    f->stale = false;
  }
}

/* Whether it is what was looked at: the function itself, or C that it has
   called from that instruction. */
static bool agrees (tg_SpyStack *k, const Struck *at) {
  const tg_SpySpan *span = &k->spans[k->nspans - 1];
  tg_SeenFrame *f = &k->frames[span->first];
  if (span->count == 0)
    return false;
  if (f->code == at->code->frame.code) {
    set_pc(f, at);
    return true;
  }
  return f->is_c && span->count > 1 && f[1].code == at->code->frame.code
         && (at->pc < 0 || f[1].pc == at->pc);
}

/* What was called later goes. */
static bool cut (tg_SpyStack *k, const Struck *at) {
  for (uint32_t n = k->nspans; n > 0; n--) {
    tg_SpySpan *span = &k->spans[n - 1];
    for (uint32_t i = 0; i < span->count; i++) {
      tg_SeenFrame *f = &k->frames[span->first + i];
      if (f->code != at->code->frame.code)
        continue;
      span->first += i;
      span->count -= i;
      k->nspans = n;
      set_pc(f, at);
      return true;
    }
  }
  return false;
}

/* Room for one more frame above the one at 'i' of the last span, whose others
   go. */
static tg_SeenFrame *replace_above (tg_SpyStack *k, uint32_t i) {
  tg_SpySpan *span = &k->spans[k->nspans - 1];
  if (i == 0) {
    if (!tg_grow(&k->frames, &k->capacity, k->count + 1, sizeof *k->frames))
      return NULL;
    memmove(&k->frames[span->first + 1], &k->frames[span->first],
            span->count * sizeof *k->frames);
    k->count++;
    span->count++;
    return &k->frames[span->first];
  }
  span->first += i - 1;
  span->count -= i - 1;
  return &k->frames[span->first];
}

static bool put_above (tg_SpyStack *k, uint32_t i, const Struck *at) {
  tg_SeenFrame *f = replace_above(k, i);
  if (f == NULL)
    return false;
  *f = at->code->frame;
  f->stale = !f->is_c;
  f->tail = f->inlined = false;
  if (!f->is_c)
    set_pc(f, at);
  return true;
}

/* Of those that are still there the innermost one that is known to call it. */
static bool replace (tg_SpyLeaves *l, tg_SpyStack *k, const Struck *at) {
  const tg_SpySpan *span = &k->spans[k->nspans - 1];
  for (uint32_t i = 0; i < span->count; i++) {
    const tg_SeenFrame *caller = &k->frames[span->first + i];
    if (!has_called(l, caller->code, at->code->frame.code))
      continue;
    return put_above(k, i, at);
  }
  return false;
}

/* }================================================================== */

void tg_spyleaves_meet (tg_SpyLeaves *l, tg_Sight *s, const tg_SpyStack *k) {
  for (uint32_t i = 0; i < k->count; i++)
    meet(l, s, &k->frames[i]);
}

/* A function in C that LuaJIT runs has its address in a register, or saved. */
static uint32_t find_c (const tg_SpyLeaves *l, const tg_SpyTick *tick) {
  size_t n = words_of(tick);
  for (size_t i = 0; i < n; i++) {
    uint64_t word = word_of(tick, i);
    uint32_t place = owner_of(l, word + 4);
    if (place != NONE && l->list[place].start == word
        && l->list[place].frame.is_c)
      return place;
  }
  return NONE;
}

/* Of LuaJIT the look has asked the tick already: what may be missing is the
   function that the innermost frame has called, if that is known to call it. */
static bool settle_jit (tg_SpyLeaves *l, tg_Sight *s, tg_SpyStack *k,
                        const tg_SpyTick *tick) {
  if (k->count == 0)
    return true;
  if (!k->lacks_leaf) {
    learn(l, k);
    return true;
  }
  uint32_t place = (k->called != 0) ? owner_of(l, k->called)
                                    : find_c(l, tick);
  if (place == NONE || !is_current(s, &l->list[place]))
    return false;
  Struck at = {&l->list[place],
               (int32_t)((k->called - l->list[place].start) / 4) - 1};
  return replace(l, k, &at);
}

/* Of a function that was never seen nobody knows the code: the look is
   believed. */
bool tg_spyleaves_settle (tg_SpyLeaves *l, tg_Sight *s, tg_SpyStack *k,
                          const tg_SpyTick *tick) {
  if (s->jit != NULL)
    return settle_jit(l, s, k, tick);
  Struck at = find_struck(l, s, tick);
  if (at.code == NULL || k->count == 0)
    return true;
  if (!is_current(s, at.code)) {
    drop(l, (uint32_t)(at.code - l->list));
    return true;
  }
  if (agrees(k, &at)) {
    learn(l, k);
    return true;
  }
  return cut(k, &at) || replace(l, k, &at);
}
