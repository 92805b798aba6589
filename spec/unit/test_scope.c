/*
** test_scope.c - streams written by hand, and what a session answers about
** them.
**
** An answer is told event by event: "2a[10..40 t20 o3 x1]<1 2c" is event 2, a
** call of a from 10 to 40 with 20 of time and 3 of overhead and one hit, inside
** event 1, with two children. What is added up has neither number nor place.
** Every question is asked of sessions with short segments and with one segment,
** which must say the same.
*/
#include "base/alloc.h"
#include "capture.h"
#include "scope/making.h"
#include "scope/query.h"
#include "unit.h"

static const uint32_t main_chain[] = {1, 0};

static tg_Buf told, told_again;

enum { A = 1, B, C, D };    /* functions in order of definition */

static Tape start (const char *names) {
  Tape t = tape_new();
  for (char name[2] = {0}; *names != '\0'; names++) {
    name[0] = *names;
    define(t.stream, name, 1);
  }
  e_context(&t, 1000, 1, main_chain);
  return t;
}

static tg_Scope *scope_with (const Tape *t, const tg_Options *o,
                             uint32_t stride, tg_Status *status) {
  tg_Selection selection = {0};
  tg_Scope *s = NULL;
  *status = TG_ERR_MEMORY;
  if (tg_selection_add(&selection, o)) {
    const tg_ScopeSource from = {
      .stream = t->stream, .stop = tape_pos(t), .selection = &selection,
      .start_ns = 1000, .end_ns = 1000, .arguments = true,
      .stride = stride
    };
    s = tg_scope_new(&from, status);
  }
  tg_selection_clear(&selection);
  return s;
}

static tg_Scope *scope_of (const Tape *t, uint32_t stride) {
  tg_Options o;
  tg_Status status;
  tg_options_init(&o);
  o.types = TG_TYPES_ALL;
  tg_Scope *s = scope_with(t, &o, stride, &status);
  UNIT_CHECK(s != NULL && status == TG_OK);
  return s;
}

static const char *name_of (const tg_Scope *s, uint32_t kind) {
  return tg_funclabels_function(&s->kinds.labels,
                                s->kinds.list[kind].label)->name;
}

static void tell (tg_Buf *b, const tg_Scope *s, tg_ScopeMode mode,
                  const tg_ScopeEvent *e) {
  bool single = mode == TG_SCOPE_ALL;
  if (b->size > 0)
    tg_buf_addchar(b, ' ');
  if (single)
    tg_buf_addu64(b, e->id);
  if (single || mode == TG_SCOPE_UNIQUE_EVENTS)
    tg_buf_addstr(b, name_of(s, e->kind));
  else
    tg_buf_addfmt(b, "type%d", (int)e->type);
  tg_buf_addfmt(b, "[%d..%d t%d o%d x%d]", (int)e->start_ns, (int)e->end_ns,
                (int)e->time_ns, (int)e->overhead_ns, (int)e->hits);
  if (single && e->parent != 0)
    tg_buf_addfmt(b, "<%d", (int)e->parent);
  if (single && e->children > 0)
    tg_buf_addfmt(b, " %dc", (int)e->children);
  if (single && e->all_time_ns != e->time_ns)
    tg_buf_addfmt(b, " t%d o%d", (int)e->all_time_ns,
                  (int)e->all_overhead_ns);
}

/* False: there is no such event. */
static bool answer (tg_Buf *b, tg_Scope *s, const tg_ScopeQuery *q) {
  tg_ScopeCursor c;
  const tg_ScopeEvent *e;
  bool opened = tg_scopequery_open(&c, s, q);
  while (opened && (e = tg_scopequery_next(&c)) != NULL)
    tell(b, s, q->mode, e);
  UNIT_CHECK(c.status == TG_OK);
  tg_scopequery_close(&c);
  return opened;
}

static const tg_ScopeQuery everything = {
  .mode = TG_SCOPE_ALL, .max_depth = TG_NOLIMIT, .to_ns = UINT64_MAX
};

static bool same (void) {
  return told.size == told_again.size
         && (told.size == 0
             || memcmp(told.data, told_again.data, told.size) == 0);
}

static void ask (const Tape *t, const tg_ScopeQuery *q) {
  tg_Scope *s = scope_of(t, 1000000);
  UNIT_CHECK(s->nsegments == 1);
  bool opened = answer(&told, s, q);
  tg_scope_free(s);
  for (uint32_t stride = 1; stride < 6; stride++) {
    s = scope_of(t, stride);
    UNIT_CHECK(answer(&told_again, s, q) == opened);
    UNIT_CHECK(same());
    tg_buf_clear(&told_again);
    tg_scope_free(s);
  }
}

#define SAYS(t, q, wanted) (ask((t), (q)), UNIT_TEXT(&told, wanted))

static tg_ScopeQuery in_mode (tg_ScopeMode mode) {
  tg_ScopeQuery q = everything;
  q.mode = mode;
  return q;
}

/*
** {==================================================================
** Events
** ===================================================================
*/

static void nothing (void) {
  Tape t = start("");
  for (int mode = TG_SCOPE_ALL; mode <= TG_SCOPE_REDUCE_ALL; mode++) {
    tg_ScopeQuery q = in_mode((tg_ScopeMode)mode);
    SAYS(&t, &q, "");
  }
  tg_stream_unpin(t.stream);
}

/* After a call 3 of the time are overhead, after a return 2. */
static void nested (void) {
  Tape t = start("ab");
  e_call(&t, A, 0, NULL);       /* at 10 */
  e_call(&t, B, 0, NULL);
  e_return(&t);
  e_call(&t, B, 0, NULL);
  e_return(&t);
  e_return(&t);                 /* at 60 */
  SAYS(&t, &everything,
       "1a[10..60 t30 o0 x1] 2c t50 o0 2b[20..30 t10 o0 x1]<1 "
       "3b[40..50 t10 o0 x1]<1");
  tg_ScopeQuery q = in_mode(TG_SCOPE_UNIQUE_EVENTS);
  SAYS(&t, &q, "a[10..60 t30 o0 x1] b[20..50 t20 o0 x2]");
  q.mode = TG_SCOPE_UNIQUE_TYPES;
  SAYS(&t, &q, "type32[10..60 t50 o0 x3]");
  q.mode = TG_SCOPE_REDUCE_ALL;
  SAYS(&t, &q, "type1[10..60 t50 o0 x3]");
  tg_stream_unpin(t.stream);
}

/* One event with two hits; the other coroutine's time is not its own. */
static void yields (void) {
  Tape t = start("abc");
  e_call(&t, A, 0, NULL);       /* 10 */
  e_resume(&t, 2);              /* 20 */
  e_call(&t, B, 0, NULL);       /* 30 */
  e_plain(&t, TG_EV_YIELD, NULL);   /* 40 */
  e_resume(&t, 2);              /* 50 */
  e_call(&t, C, 0, NULL);       /* 60 */
  e_return(&t);                 /* 70 */
  e_return(&t);                 /* 80 */
  e_plain(&t, TG_EV_LEAVE, NULL);   /* 90 */
  e_return(&t);                 /* 100 */
  SAYS(&t, &everything, "1a[10..100 t50 o0 x1]");
  tg_ScopeQuery q = everything;
  q.timeline = 1;
  SAYS(&t, &q, "2b[30..80 t30 o0 x2] 1c t40 o0 3c[60..70 t10 o0 x1]<2");
  q.types = UINT64_C(1) << TG_SCOPE_EVALUATION;
  SAYS(&t, &q, "2b[30..80 t30 o0 x2] 1c t40 o0");
  tg_stream_unpin(t.stream);
}

/* What is open at the end ends there, what waits when it ran last. */
static void open_at_the_end (void) {
  Tape t = start("ab");
  e_call(&t, A, 0, NULL);       /* 10 */
  e_resume(&t, 2);
  e_call(&t, B, 0, NULL);       /* 30 */
  e_plain(&t, TG_EV_YIELD, NULL);   /* 40 */
  e_call(&t, A, 0, NULL);       /* 50 */
  SAYS(&t, &everything,
       "1a[10..50 t30 o0 x1] 1c 3a[50..50 t0 o0 x1]<1");
  tg_ScopeQuery q = everything;
  q.timeline = 1;
  SAYS(&t, &q, "2b[30..40 t10 o0 x1]");
  tg_stream_unpin(t.stream);
}

static void throws (void) {
  Tape t = start("abc");
  e_call(&t, A, 0, NULL);       /* 10 */
  e_call(&t, B, 0, NULL);
  e_call(&t, C, 0, NULL);       /* 30 */
  e_throw(&t, 2, NULL);         /* 40 */
  e_return(&t);                 /* 50 */
  SAYS(&t, &everything,
       "1a[10..50 t20 o0 x1] 1c t40 o0 2b[20..40 t10 o0 x1]<1 1c t20 o0 "
       "3c[30..40 t10 o0 x1]<2");
  tg_stream_unpin(t.stream);
}

/* }================================================================== */

/*
** {==================================================================
** Questions
** ===================================================================
*/

/* a(b(c c) c) b, from 10 to 120 */
static Tape tree (void) {
  Tape t = start("abc");
  e_call(&t, A, 0, NULL);       /* 10 */
  e_call(&t, B, 0, NULL);       /* 20 */
  e_call(&t, C, 0, NULL);       /* 30 */
  e_return(&t);
  e_call(&t, C, 0, NULL);       /* 50 */
  e_return(&t);
  e_return(&t);                 /* 70 */
  e_call(&t, C, 0, NULL);       /* 80 */
  e_return(&t);
  e_return(&t);                 /* 100 */
  e_call(&t, B, 0, NULL);       /* 110 */
  e_return(&t);
  return t;
}

static void inside (void) {
  Tape t = tree();
  tg_ScopeQuery q = in_mode(TG_SCOPE_UNIQUE_EVENTS);
  q.root = 1;
  SAYS(&t, &q, "b[20..70 t30 o0 x1] c[30..90 t30 o0 x3]");
  q.root = 2;
  SAYS(&t, &q, "c[30..60 t20 o0 x2]");
  q.root = 3;
  SAYS(&t, &q, "");
  q.root = 7;
  SAYS(&t, &q, "");
  q.root = 6;
  q.mode = TG_SCOPE_ALL;
  SAYS(&t, &q, "");
  tg_stream_unpin(t.stream);
}

static void deep (void) {
  Tape t = tree();
  tg_ScopeQuery q = in_mode(TG_SCOPE_UNIQUE_EVENTS);
  q.max_depth = 1;
  SAYS(&t, &q, "a[10..100 t30 o0 x1] b[110..120 t10 o0 x1]");
  q.max_depth = 2;
  SAYS(&t, &q, "a[10..100 t30 o0 x1] b[20..120 t40 o0 x2] "
               "c[80..90 t10 o0 x1]");
  q.root = 1;
  q.max_depth = 1;
  SAYS(&t, &q, "b[20..70 t30 o0 x1] c[80..90 t10 o0 x1]");
  q.max_depth = UINT32_MAX - 1;
  q.mode = TG_SCOPE_REDUCE_ALL;
  SAYS(&t, &q, "type1[20..90 t60 o0 x4]");
  tg_stream_unpin(t.stream);
}

static void in_time (void) {
  Tape t = tree();
  tg_ScopeQuery q = in_mode(TG_SCOPE_UNIQUE_EVENTS);
  q.from_ns = q.to_ns = 40;
  SAYS(&t, &q, "a[10..100 t30 o0 x1] b[20..70 t30 o0 x1] "
               "c[30..40 t10 o0 x1]");
  q.from_ns = q.to_ns = 45;
  SAYS(&t, &q, "a[10..100 t30 o0 x1] b[20..70 t30 o0 x1]");
  q.from_ns = 101;
  q.to_ns = UINT64_MAX;
  SAYS(&t, &q, "b[110..120 t10 o0 x1]");
  q.from_ns = 0;
  q.to_ns = 9;
  SAYS(&t, &q, "");
  q.from_ns = 60;               /* the other way round: what covers both */
  q.to_ns = 30;
  SAYS(&t, &q, "a[10..100 t30 o0 x1] b[20..70 t30 o0 x1]");
  tg_stream_unpin(t.stream);
}

static void of_types (void) {
  Tape t = tree();
  tg_ScopeQuery q = in_mode(TG_SCOPE_UNIQUE_TYPES);
  q.types = UINT64_C(1) << TG_SCOPE_EVALUATION;
  SAYS(&t, &q, "");
  q.types |= UINT64_C(1) << TG_SCOPE_CALL;
  SAYS(&t, &q, "type32[10..120 t100 o0 x6]");
  tg_stream_unpin(t.stream);
}

/* }================================================================== */

/*
** {==================================================================
** Random streams: short segments against one
** ===================================================================
*/

typedef struct Dice {
  uint64_t seed;
  Tape t;
  uint32_t depth[5];    /* frames of each coroutine; of thread i + 1 */
  bool alive[5];        /* it waits */
  uint32_t chain[5], running;
} Dice;

static uint32_t roll (Dice *d, uint32_t n) {
  return unit_random(&d->seed) % n;
}

static void resume_one (Dice *d) {
  uint32_t i = roll(d, 5);
  for (uint32_t j = 0; j <= d->running; j++) {
    if (d->chain[j] == i)
      return;
  }
  e_resume(&d->t, i + 1);
  d->chain[++d->running] = i;
}

static void random_event (Dice *d) {
  uint32_t *depth = &d->depth[d->chain[d->running]];
  switch (roll(d, 12)) {
    case 0: resume_one(d); break;
    case 1:
      if (d->running > 0) {
        e_plain(&d->t, TG_EV_YIELD, NULL);
        d->running--;
      }
      break;
    case 2:
      if (d->running > 0 && *depth == 0) {
        e_plain(&d->t, TG_EV_LEAVE, NULL);
        d->running--;
      }
      break;
    case 3:
      if (*depth > 1) {
        uint32_t n = 1 + roll(d, *depth);
        e_throw(&d->t, n, NULL);
        *depth -= n;
      }
      break;
    case 4: case 5: case 6: case 7:
      if (*depth > 0) {
        e_return(&d->t);
        --*depth;
      }
      break;
    default:
      if (*depth < 9) {
        e_call(&d->t, 1 + roll(d, 4), 0, NULL);
        ++*depth;
      }
  }
}

static tg_ScopeQuery random_query (Dice *d, const tg_Scope *s) {
  tg_ScopeQuery q = everything;
  q.timeline = roll(d, s->timelines.count);
  q.mode = (tg_ScopeMode)(TG_SCOPE_ALL + roll(d, 4));
  if (roll(d, 2) == 0)
    q.root = roll(d, (uint32_t)s->events + 2);
  if (roll(d, 2) == 0)
    q.max_depth = 1 + roll(d, 6);
  if (roll(d, 3) == 0)
    q.types = UINT64_C(1) << TG_SCOPE_CALL;
  if (roll(d, 2) == 0) {
    q.from_ns = roll(d, (uint32_t)s->duration_ns + 1);
    q.to_ns = q.from_ns + roll(d, 2000);
  }
  return q;
}

static void compare_scopes (Dice *d, tg_Scope *one, tg_Scope *many) {
  UNIT_CHECK(one->events == many->events);
  UNIT_CHECK(one->timelines.count == many->timelines.count);
  for (int i = 0; i < 30; i++) {
    tg_ScopeQuery q = random_query(d, one);
    bool opened = answer(&told, one, &q);
    UNIT_CHECK(answer(&told_again, many, &q) == opened);
    UNIT_CHECK(same());
    tg_buf_clear(&told);
    tg_buf_clear(&told_again);
  }
}

static void random_streams (void) {
  for (uint64_t seed = 1; seed <= 60; seed++) {
    Dice d = {.seed = seed, .t = start("abcd")};
    uint32_t n = 20 + roll(&d, 260);
    for (uint32_t i = 0; i < n; i++)
      random_event(&d);
    tg_Scope *one = scope_of(&d.t, 1000000);
    tg_Scope *many = scope_of(&d.t, 1 + roll(&d, 30));
    compare_scopes(&d, one, many);
    tg_scope_free(one);
    tg_scope_free(many);
    tg_stream_unpin(d.t.stream);
  }
}

/* }================================================================== */

/* A question with some allocation refused: the answer, or that it was memory.
   Whether it was refused one. */
static bool ask_refused (tg_Scope *s, const tg_ScopeQuery *q, uint64_t nth,
                         const char *wanted) {
  tg_ScopeCursor c;
  const tg_ScopeEvent *e;
  tg_Buf text = {0};
  tg_alloc_fail(nth);
  bool opened = tg_scopequery_open(&c, s, q);
  uint32_t hits = 0;
  while (opened && (e = tg_scopequery_next(&c)) != NULL)
    hits += (uint32_t)e->hits;
  bool refused = tg_alloc_fail(0) >= nth;
  UNIT_CHECK(refused || c.status == TG_OK);
  UNIT_CHECK(c.status == TG_OK || c.status == TG_ERR_MEMORY);
  if (c.status == TG_OK) {
    tg_buf_addu64(&text, hits);
    UNIT_TEXT(&text, wanted);
  }
  tg_scopequery_close(&c);
  tg_buf_free(&text);
  return refused;
}

static void refused (void) {
  Tape t = tree();
  tg_Options o;
  tg_Status status;
  uint64_t n = 0, requests;
  tg_options_init(&o);
  do {
    tg_alloc_fail(++n);
    tg_Scope *s = scope_with(&t, &o, 3, &status);
    requests = tg_alloc_fail(0);
    UNIT_CHECK(s != NULL ? s->events == 6 : status == TG_ERR_MEMORY);
    UNIT_CHECK(s != NULL || requests >= n);
    tg_scope_free(s);
  } while (requests >= n);
  UNIT_CHECK(n > 40);
  tg_Scope *s = scope_with(&t, &o, 3, &status);
  tg_ScopeQuery q = in_mode(TG_SCOPE_UNIQUE_EVENTS);
  q.from_ns = 35;
  for (n = 1; ask_refused(s, &q, n, "6"); n++) {}
  UNIT_CHECK(n > 3);
  q.mode = TG_SCOPE_ALL;
  for (n = 1; ask_refused(s, &q, n, "6"); n++) {}
  tg_scope_free(s);
  tg_stream_unpin(t.stream);
}

int main (void) {
  UNIT_RUN(nothing);
  UNIT_RUN(nested);
  UNIT_RUN(yields);
  UNIT_RUN(open_at_the_end);
  UNIT_RUN(throws);
  UNIT_RUN(inside);
  UNIT_RUN(deep);
  UNIT_RUN(in_time);
  UNIT_RUN(of_types);
  UNIT_RUN(random_streams);
  UNIT_RUN(refused);
  tg_buf_free(&told);
  tg_buf_free(&told_again);
  return UNIT_END();
}
