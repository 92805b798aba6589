/* writing.c - see writing.h. */
#include "spy/writing.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "dump/calledname.h"

#define OUTSIDE_NAME "(outside of Lua)"
#define SAMPLE_SIZE(n) (48 + 8 * (size_t)(n))   /* at most: with n entries */

/*
** {==================================================================
** The stream
** ===================================================================
*/

static void turn (tg_Writer *r, size_t need, uint64_t now) {
  tg_writer_open(r, need, now, UINT64_MAX);
}

/* The main coroutine, without frames: each sample tells the whole chain. */
static uint8_t *put_context (tg_Writer *r, uint8_t *p, bool *listed) {
  (void)r;
  *listed = false;
  return tg_put32(tg_put32(tg_put32(p, 1), 1), 0);
}

bool tg_spywriting_open (tg_SpyWriting *w, tg_Target *t, tg_Stream *stream) {
  memset(w, 0, sizeof *w);
  w->stream = tg_stream_pin(stream);
  w->writer = (tg_Writer){
    .stream = stream, .turn = turn, .context = put_context,
    .packets_stop = UINT64_MAX, .ticks_stop = UINT64_MAX
  };
  return tg_described_open(&w->described, t, stream->functions);
}

void tg_spywriting_close (tg_SpyWriting *w) {
  if (w->stream == NULL)
    return;
  tg_described_close(&w->described);
  tg_intmap_free(&w->threads);
  tg_intmap_free(&w->lines);
  tg_spywriting_forget_c(w);
  tg_free(w->now.list);
  tg_free(w->before.list);
  tg_stream_unpin(w->stream);
  memset(w, 0, sizeof *w);
}

bool tg_spywriting_begin (tg_SpyWriting *w, uint64_t now) {
  tg_Pos mark;
  return tg_writer_mark(&w->writer, now, UINT64_MAX, &mark);
}

void tg_spywriting_forget (tg_SpyWriting *w) {
  tg_intmap_free(&w->lines);
  w->lines = (tg_IntMap){0};
}

void tg_spywriting_forget_c (tg_SpyWriting *w) {
  tg_intmap_free(&w->called);
  tg_intmap_free(&w->natives);
  w->called = w->natives = (tg_IntMap){0};
}

/* }================================================================== */

/*
** {==================================================================
** Entries
** ===================================================================
*/

static bool add (tg_SpyWriting *w, uint32_t function, uint32_t line) {
  tg_SpyEntries *e = &w->now;
  if (!tg_grow(&e->list, &e->capacity, e->n + 1, sizeof *e->list))
    return false;
  e->list[e->n++] = (tg_SpyEntry){function, line};
  return true;
}

/* Coroutines are numbered as they appear; the first that does is 1. */
static bool add_thread (tg_SpyWriting *w, uint64_t at) {
  uint32_t number = tg_intmap_find(&w->threads, at);
  if (number == TG_INTMAP_NONE) {
    number = w->nthreads + 1;
    if (!tg_intmap_set(&w->threads, at, number))
      return false;
    w->nthreads = number;
  }
  return add(w, 0, number);
}

/* What stands for no function, as C without a place. */
static tg_FunctionId stranger (tg_SpyWriting *w, tg_FunctionId *id,
                               const char *name) {
  tg_Function f = {.name = tg_strcopy(name), .url = tg_strcopy("[C]"),
                   .vararg = true, .is_c = true};
  if (*id == 0 && f.name != NULL && f.url != NULL)
    *id = tg_functions_add(w->stream->functions, &f);
  else
    tg_function_clear(&f);
  return *id;
}

static uint32_t line_of (tg_SpyWriting *w, const tg_SeenFrame *f) {
  tg_SeenProto p;
  tg_Sight *s = &w->described.target->sight;
  if (f->is_c || f->pc < 0 || f->stale)
    return 0;
  uint64_t key = f->begin + 4 * (uint64_t)f->pc;
  uint32_t line = tg_intmap_find(&w->lines, key);
  if (line == TG_INTMAP_NONE && tg_proto_read(s, f->code, &p)) {
    line = tg_proto_line(s, &p, f->pc);
    tg_intmap_set(&w->lines, key, line);
  }
  return (line != TG_INTMAP_NONE) ? line : 0;
}

#define NAMES_NS UINT64_C(50000000)     /* between looks at package.loaded, at
                                           least: what they take is a small */
#define NAMES_SHARE 20                  /* part of the time */

/* Modules may have been loaded since: a function that is new to us may be
   theirs. */
static void renew_names (tg_SpyWriting *w) {
  uint64_t now = tg_clock_monotonic_ns();
  if (now < w->names_ns)
    return;
  tg_described_reload(&w->described);
  uint64_t took = tg_clock_monotonic_ns() - now;
  uint64_t pause = took * NAMES_SHARE;
  w->names_ns = now + (pause > NAMES_NS ? pause : NAMES_NS);
}

/* 'caller' is NULL for the outermost frame. */
static tg_FunctionId function_of (tg_SpyWriting *w, uint64_t shared,
                                  const tg_SeenFrame *caller,
                                  const tg_SeenFrame *f) {
  char called[256];
  tg_SeenProto p;
  tg_Sight *s = &w->described.target->sight;
  tg_FunctionId id = tg_described_known(&w->described, f);
  if (id != 0)
    return id;
  tg_spywriting_forget(w);
  renew_names(w);
  bool named = caller != NULL
               && tg_calledname_by(s, shared, caller, f, called,
                                   sizeof called);
  if (f->inlined && tg_seen_type(f->function) != TG_SEEN_FUNCTION)
    return tg_proto_read(s, f->code, &p) ? tg_described_proto(&w->described, &p)
                                         : 0;
  return tg_described_of(&w->described, f->function, named ? called : NULL);
}

/* Frames are innermost first in the span. */
static bool add_frame (tg_SpyWriting *w, const tg_SpyStack *k,
                       const tg_SpySpan *span, uint32_t at) {
  const tg_SeenFrame *f = &k->frames[at];
  const tg_SeenFrame *caller = (at + 1 < span->first + span->count) ? f + 1
                                                                    : NULL;
  tg_FunctionId id = function_of(w, span->state.shared, caller, f);
  if (f->is_c && id != 0)
    tg_intmap_set(&w->called, f->code, id);
  return id != 0 && add(w, id, line_of(w, f));
}

static bool add_span (tg_SpyWriting *w, const tg_SpyStack *k,
                      const tg_SpySpan *span) {
  if (!add_thread(w, span->state.at))
    return false;
  for (uint32_t i = span->count; i > 0; i--) {
    if (!add_frame(w, k, span, span->first + i - 1))
      return false;
  }
  return true;
}

static bool add_outside (tg_SpyWriting *w, uint64_t main) {
  return add_thread(w, main)
         && add(w, stranger(w, &w->outside, OUTSIDE_NAME), 0);
}

bool tg_spywriting_take (tg_SpyWriting *w, const tg_SpyStack *k,
                         uint64_t main) {
  w->now.n = 0;
  if (k->count == 0)
    return add_outside(w, main);
  for (uint32_t i = 0; i < k->nspans; i++) {
    if (!add_span(w, k, &k->spans[i]))
      return false;
  }
  return true;
}

/* Light C functions are among those that package.loaded leads to by their
   address alone. */
tg_FunctionId tg_spywriting_called (tg_SpyWriting *w, uint64_t start) {
  uint32_t id = tg_intmap_find(&w->called, start);
  tg_Sight *s = &w->described.target->sight;
  if (id != TG_INTMAP_NONE)
    return id;
  if (start == 0 || !tg_sight_has(s, TAG_LIGHTC))
    return 0;
  tg_SeenValue light = {.bits = start,
                        .tag = (uint8_t)tg_sight_row(s, TAG_LIGHTC)};
  if (tg_loadednames_find(&w->described.loaded, light) == NULL)
    return 0;
  return tg_described_of(&w->described, light, NULL);
}

/* All code of a function has its number. */
static tg_FunctionId native_of (tg_SpyWriting *w, tg_CCode *code) {
  tg_FunctionId *id = &code->function;
  if (*id == 0 && code->start != 0) {
    uint32_t known = tg_intmap_find(&w->natives, code->start);
    *id = (known != TG_INTMAP_NONE) ? known : 0;
  }
  if (*id == 0 && stranger(w, id, code->title) != 0 && code->start != 0)
    tg_intmap_set(&w->natives, code->start, *id);
  return *id;
}

bool tg_spywriting_mix (tg_SpyWriting *w, const tg_SpyStack *k, uint64_t main,
                        const tg_SpyMix *m, const tg_CStack *c) {
  const tg_SpySpan *span = NULL;
  bool good = true;
  w->now.n = 0;
  if (k->count == 0)
    good = add_outside(w, main);
  for (uint32_t i = 0; i < m->n && good; i++) {
    uint32_t at = m->list[i].at;
    switch (m->list[i].kind) {
      case TG_STEP_SPAN:
        span = &k->spans[at];
        good = add_thread(w, span->state.at);
        break;
      case TG_STEP_FRAME:
        good = add_frame(w, k, span, at);
        break;
      case TG_STEP_C:
        good = add(w, native_of(w, tg_cstack_code(c, at)), 0);
        break;
      default: tg_unreachable();
    }
  }
  return good;
}

bool tg_spywriting_preempt (tg_SpyWriting *w) {
  return add(w, stranger(w, &w->preempted, TG_PREEMPTED_NAME), 0);
}

/* }================================================================== */

/* How many of the outermost are as in the sample before; none, if a reader may
   have begun since. */
static uint32_t count_kept (const tg_SpyWriting *w) {
  uint32_t i = 0;
  if (w->epoch != w->writer.epoch)
    return 0;
  while (i < w->now.n && i < w->before.n
         && w->now.list[i].function == w->before.list[i].function
         && w->now.list[i].line == w->before.list[i].line)
    i++;
  return i;
}

/* The sample that was written becomes the one before; it stays what is shown,
   too. */
static bool keep (tg_SpyWriting *w) {
  tg_SpyEntries *to = &w->before;
  w->epoch = w->writer.epoch - 1;
  if (!tg_grow(&to->list, &to->capacity, w->now.n, sizeof *to->list))
    return false;
  if (w->now.n > 0)
    memcpy(to->list, w->now.list, w->now.n * sizeof *to->list);
  to->n = w->now.n;
  w->epoch = w->writer.epoch;
  w->taken++;
  return true;
}

bool tg_spywriting_put (tg_SpyWriting *w, const tg_SpyTime *t) {
  tg_Writer *r = &w->writer;
  uint8_t *p = tg_writer_begin(r, SAMPLE_SIZE(w->now.n), t->ticks);
  r->packets++;
  if (p == NULL)
    return false;
  uint32_t kept = count_kept(w);
  p = tg_writer_head(r, p, TG_EV_SAMPLE | (t->waited ? TG_EVF_WAITED : 0),
                     t->ticks > r->last ? t->ticks : r->last);
  p = tg_put32(tg_put64(p, t->ns), t->count);
  p = tg_put32(tg_put32(p, kept), w->now.n - kept);
  for (uint32_t i = kept; i < w->now.n; i++)
    p = tg_put32(tg_put32(p, w->now.list[i].function), w->now.list[i].line);
  tg_writer_end(r, p);
  return keep(w);
}
