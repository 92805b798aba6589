/* mixed.c - see mixed.h. */
#include "spy/mixed.h"

#include "base/alloc.h"
#include "base/grow.h"

#define NONE UINT32_MAX

typedef struct Mixing {
  tg_SpyMix *m;
  const tg_SpyStack *k;
  const tg_CStack *c;
  bool anchor[TG_CSTACK_FRAMES];        /* whether a C frame is one */
  uint32_t at;          /* the C frame that comes next, from the outermost */
  bool exact, failed;
} Mixing;

void tg_spymix_free (tg_SpyMix *m) {
  tg_free(m->list);
  tg_free(m->anchors);
  *m = (tg_SpyMix){0};
}

/* Counted from the outermost. */
static const tg_CCode *code_at (const Mixing *x, uint32_t i) {
  return tg_cstack_code(x->c, x->c->count - 1 - i);
}

static bool is_folded (const tg_CCode *code) {
  return code->interpreter && !code->lua;
}

/*
** {==================================================================
** Anchors
** ===================================================================
*/

static void set_anchor (Mixing *x, uint32_t frame, uint32_t at) {
  x->m->anchors[frame] = at;
  x->anchor[at] = true;
}

/* From the outermost frames on: so a C function that Lua has called since finds
   none, where an outer call of it is. */
static void anchor_inwards (Mixing *x) {
  uint32_t from = 0;
  for (uint32_t s = 0; s < x->k->nspans; s++) {
    const tg_SpySpan *span = &x->k->spans[s];
    for (uint32_t i = span->count; i > 0; i--) {
      const tg_SeenFrame *f = &x->k->frames[span->first + i - 1];
      uint32_t at = from;
      while (f->is_c && at < x->c->count && code_at(x, at)->start != f->code)
        at++;
      if (!f->is_c || at == x->c->count)
        continue;
      set_anchor(x, span->first + i - 1, at);
      from = at + 1;
    }
  }
}

/* Where the C stack's outer part is not known. */
static void anchor_outwards (Mixing *x) {
  uint32_t until = x->c->count;
  for (uint32_t s = x->k->nspans; s > 0; s--) {
    const tg_SpySpan *span = &x->k->spans[s - 1];
    for (uint32_t i = 0; i < span->count; i++) {
      const tg_SeenFrame *f = &x->k->frames[span->first + i];
      uint32_t at = until;
      while (f->is_c && at > 0 && code_at(x, at - 1)->start != f->code)
        at--;
      if (!f->is_c || at == 0)
        continue;
      set_anchor(x, span->first + i, at - 1);
      until = at - 1;
    }
  }
}

static bool find_anchors (Mixing *x) {
  uint32_t n = x->k->count;
  if (!tg_grow(&x->m->anchors, &x->m->anchors_capacity, n + 1,
               sizeof *x->m->anchors))
    return false;
  for (uint32_t i = 0; i < n; i++)
    x->m->anchors[i] = NONE;
  if (x->c->whole)
    anchor_inwards(x);
  else
    anchor_outwards(x);
  return true;
}

/* Lua runs on a C stack that has an anchor or the interpreter on it. */
static bool go_together (const Mixing *x) {
  for (uint32_t i = 0; i < x->c->count; i++) {
    if (x->anchor[i] || is_folded(code_at(x, i)))
      return true;
  }
  return x->k->count == 0 && x->c->count > 0;
}

/* }================================================================== */

/*
** {==================================================================
** The order
** ===================================================================
*/

static void put (Mixing *x, tg_SpyStepKind kind, uint32_t at) {
  tg_SpyMix *m = x->m;
  if (tg_grow(&m->list, &m->capacity, m->n + 1, sizeof *m->list))
    m->list[m->n++] = (tg_SpyStep){kind, at};
  else
    x->failed = true;
}

/* The first one that Lua has called, of which the look knows nothing. */
static void note_stray (Mixing *x, const tg_CCode *code) {
  tg_SpyMix *m = x->m;
  if (!code->lua || m->callee != 0 || m->n == 0
      || m->list[m->n - 1].kind != TG_STEP_FRAME)
    return;
  m->caller = x->k->frames[m->list[m->n - 1].at].code;
  m->callee = code->start;
}

static void put_c (Mixing *x) {
  const tg_CCode *code = code_at(x, x->at);
  note_stray(x, code);
  if (!is_folded(code))
    put(x, TG_STEP_C, x->c->count - 1 - x->at);
  x->at++;
}

/* What was called in C alone, up to where the interpreter is. */
static void put_called (Mixing *x) {
  while (x->at < x->c->count && !x->anchor[x->at]
         && !is_folded(code_at(x, x->at)))
    put_c(x);
}

static void put_frame (Mixing *x, uint32_t frame) {
  uint32_t anchor = x->m->anchors[frame];
  while (anchor != NONE && x->at < anchor)
    put_c(x);
  put(x, TG_STEP_FRAME, frame);
  if (anchor == NONE)
    return;
  x->at = anchor + 1;
  put_called(x);
}

/* How many of a coroutine's innermost frames have been called since. */
static uint32_t count_later (const Mixing *x, const tg_SpySpan *span) {
  uint32_t n = 0;
  while (!x->exact && n < span->count && x->k->frames[span->first + n].is_c
         && x->m->anchors[span->first + n] == NONE)
    n++;
  return n;
}

static void put_span (Mixing *x, uint32_t s) {
  const tg_SpySpan *span = &x->k->spans[s];
  uint32_t later = (s + 1 == x->k->nspans) ? count_later(x, span) : 0;
  put(x, TG_STEP_SPAN, s);
  if (s == 0)
    put_called(x);
  for (uint32_t i = span->count; i > later; i--)
    put_frame(x, span->first + i - 1);
}

bool tg_spymix_make (tg_SpyMix *m, const tg_SpyStack *k, const tg_CStack *c,
                     bool exact) {
  Mixing x = {.m = m, .k = k, .c = c, .exact = exact};
  m->n = 0;
  m->caller = m->callee = 0;
  if (!find_anchors(&x) || !go_together(&x))
    return false;
  for (uint32_t s = 0; s < k->nspans && k->count > 0; s++)
    put_span(&x, s);
  while (x.at < c->count)
    put_c(&x);
  return !x.failed;
}

/* }================================================================== */
