/*
** test_minduration.c - short calls left out, compared with leaving them out of
** a list of all packets.
**
** Packets are told as in test_reader.c. Each event is 10 ns after the last.
*/
#include "base/alloc.h"
#include "capture.h"
#include "reader/minduration.h"
#include "unit.h"

#define VALUE "\x01\xc5"

enum { A = 1, B, C, D };    /* functions in order of definition */

static tg_Buf told;

static void tell (tg_Buf *b, const tg_Packet *p) {
  static const char *const ends[] = {"", "", ":x", ":y", ":T"};
  tg_buf_addstr(b, b->size > 0 ? " " : "");
  tg_buf_addfmt(b, "%c%c%s%s", p->why == TG_WHY_ENTER ? '>' : '<',
                (int)('a' + p->function - 1), p->tail ? ":t" : ends[p->why],
                p->resumed ? "*" : "");
  if (p->values.data == NULL)
    return;
  tg_buf_addchar(b, '(');
  for (size_t i = 0; i < p->values.size; i++)
    tg_buf_addfmt(b, "%02x", p->values.data[i]);
  tg_buf_addchar(b, ')');
}

static Tape start (void) {
  static const uint32_t chain[] = {1, 0};
  static const char *const names[] = {"a", "b", "c", "d"};
  Tape t = tape_new();
  for (int i = 0; i < 4; i++)
    define(t.stream, names[i], 1);
  e_context(&t, 1000, 1, chain);
  return t;
}

static tg_Selection everything (void) {
  tg_Options o;
  tg_Selection d = {0};
  tg_options_init(&o);
  tg_selection_add(&d, &o);
  return d;
}

/* Tells what 'next' gives before 'end'; sequence and depth must be right. */
static void tell_until (tg_MinDuration *s, tg_Pos end, uint64_t *sequence) {
  tg_Packet p;
  static uint32_t depth;
  if (*sequence == 0)
    depth = 0;
  while (tg_minduration_next(s, end, &p)) {
    UNIT_CHECK(p.sequence == (*sequence)++);
    UNIT_CHECK(p.depth == (p.why == TG_WHY_ENTER ? depth++ : --depth));
    tell(&told, &p);
  }
}

static void read_with (const Tape *t, uint64_t min_ns) {
  tg_Selection d = everything();
  tg_Reader *r = tg_reader_new(t->stream, 0, &d);
  tg_MinDuration s;
  uint64_t sequence = 0;
  tg_minduration_init(&s, r, min_ns);
  tell_until(&s, UINT64_MAX, &sequence);
  UNIT_CHECK(tg_minduration_status(&s) == TG_OK);
  tg_minduration_free(&s);
  tg_reader_free(r);
  tg_selection_clear(&d);
}

#define GIVES(t, min_ns, wanted) \
  (read_with((t), (min_ns)), UNIT_TEXT(&told, wanted))

/* A tick in an open call of A, with 30 ns of the hook's. */
static void e_tick (Tape *t) {
  e_head(t, TG_EV_SAMPLE | TG_EVF_APART);
  t->p = tg_put64(t->p, 10);
  e_u32(t, 1);
  e_u32(t, 0);
  e_u32(t, 2);
  e_u32(t, 0);
  e_u32(t, 1);
  e_u32(t, A | TG_SAMPLE_TRACED);
  e_u32(t, 5);
  t->p = tg_put64(t->p, 30);
  e_end(t);
}

/* The only tick of a tape. */
static tg_Packet tick_of (const Tape *t, uint64_t min_ns) {
  tg_Options o;
  tg_Selection d = {0};
  tg_options_init(&o);
  o.sample = 1000;
  o.with_calls = true;
  tg_selection_add(&d, &o);
  tg_Reader *r = tg_reader_new(t->stream, 0, &d);
  tg_MinDuration s;
  tg_Packet p, tick = {0};
  tg_minduration_init(&s, r, min_ns);
  tg_reader_tick(r);
  while (tg_minduration_next(&s, UINT64_MAX, &p)) {
    if (p.why == TG_WHY_TICK)
      tick = p;
  }
  UNIT_CHECK(tg_minduration_status(&s) == TG_OK);
  tg_minduration_free(&s);
  tg_reader_free(r);
  tg_selection_clear(&d);
  return tick;
}

/* Ticks in calls that are chosen by their length are not drawn by chance. */
static void ticks (void) {
  Tape t = start();
  e_call(&t, A, 0, NULL);
  e_tick(&t);
  e_return(&t);
  tg_Packet all = tick_of(&t, 0), some = tick_of(&t, 15);
  UNIT_CHECK(all.hits == 10 && all.hook_ns == 30 && all.apart
             && !all.chosen);
  UNIT_CHECK(some.hits == 10 && some.hook_ns == 30 && some.apart
             && some.chosen);
  tg_stream_unpin(t.stream);
}

static void durations (void) {
  Tape t = start();
  e_call(&t, A, 0, VALUE);
  e_call(&t, B, 0, "one");
  e_call(&t, C, 0, "two");
  e_return(&t);                           /* 10 ns */
  e_plain(&t, TG_EV_RETURN, VALUE);       /* 30 ns */
  e_call(&t, D, 0, VALUE);
  e_return(&t);                           /* 10 ns */
  e_return(&t);                           /* 70 ns */
  GIVES(&t, 0, ">a(01c5) >b(6f6e65) >c(74776f) <c <b(01c5) >d(01c5) <d <a");
  GIVES(&t, 10, ">a(01c5) >b(6f6e65) >c(74776f) <c <b(01c5) >d(01c5) <d <a");
  GIVES(&t, 11, ">a(01c5) >b(6f6e65) <b(01c5) <a");
  GIVES(&t, 30, ">a(01c5) >b(6f6e65) <b(01c5) <a");
  GIVES(&t, 31, ">a(01c5) <a");
  GIVES(&t, 71, "");
  tg_stream_unpin(t.stream);
}

static void still_open (void) {
  Tape t = start();
  e_call(&t, A, 0, VALUE);
  e_call(&t, B, 0, NULL);
  e_return(&t);
  e_call(&t, C, 0, "two");
  GIVES(&t, 1000, ">a(01c5) >c(74776f)");
  tg_stream_unpin(t.stream);
}

/* Whoever reads on has been given what was open. */
static void in_steps (void) {
  Tape t = start();
  tg_Selection d = everything();
  tg_Reader *r = tg_reader_new(t.stream, 0, &d);
  tg_MinDuration s;
  uint64_t sequence = 0;
  tg_minduration_init(&s, r, 25);
  e_call(&t, A, 0, VALUE);
  e_call(&t, B, 0, NULL);
  tell_until(&s, tape_pos(&t), &sequence);
  UNIT_TEXT(&told, ">a(01c5) >b");
  e_call(&t, C, 0, NULL);
  e_return(&t);
  e_return(&t);
  tell_until(&s, tape_pos(&t), &sequence);
  UNIT_TEXT(&told, "<b");
  tg_minduration_free(&s);
  tg_reader_free(r);
  tg_selection_clear(&d);
  tg_stream_unpin(t.stream);
}

static void ends (void) {
  Tape t = start();
  e_call(&t, A, 0, NULL);
  e_call(&t, B, 0, NULL);
  e_call(&t, C, TG_EVF_TAIL, NULL);
  e_call(&t, D, 0, NULL);
  e_throw(&t, 2, VALUE);        /* d 10 ns, c 20 ns */
  e_plain(&t, TG_EV_TERMINATE, NULL);
  GIVES(&t, 20, ">a >c <c:x(01c5) <a:T");
  tg_stream_unpin(t.stream);
}

/* All stays of a frame are one call, without what was between them. */
static void resumed (void) {
  Tape t = start();
  e_resume(&t, 2);
  e_call(&t, A, 0, NULL);
  e_call(&t, B, 0, NULL);
  e_plain(&t, TG_EV_YIELD, VALUE);        /* a 20 ns, b 10 ns */
  e_resume(&t, 2);
  e_call(&t, C, 0, NULL);
  e_return(&t);                           /* 10 ns */
  e_return(&t);                           /* b 30 ns and 10 before */
  e_return(&t);                           /* a 40 ns and 20 before */
  GIVES(&t, 10, ">a >b <b:y(01c5) <a:y(01c5) >a* >b* >c <c <b <a");
  GIVES(&t, 11, ">a >b <b:y(01c5) <a:y(01c5) >a* >b* <b <a");
  GIVES(&t, 40, ">a >b <b:y(01c5) <a:y(01c5) >a* >b* <b <a");
  GIVES(&t, 41, ">a <a:y(01c5) >a* <a");
  GIVES(&t, 60, ">a <a:y(01c5) >a* <a");
  GIVES(&t, 61, "");
  tg_stream_unpin(t.stream);
}

/* What is long may be within what is short: calls that resume. */
static void within_short (void) {
  Tape t = start();
  e_call(&t, A, 0, NULL);
  for (int i = 0; i < 3; i++) {
    e_call(&t, B, 0, NULL);
    e_resume(&t, 2);
    if (i == 0)
      e_call(&t, C, 0, NULL);
    e_call(&t, D, 0, NULL);
    e_return(&t);
    e_plain(&t, i < 2 ? TG_EV_YIELD : TG_EV_RETURN, VALUE);
    if (i == 2)
      e_plain(&t, TG_EV_LEAVE, NULL);
    e_return(&t);               /* b 50, 50 and 60 ns, d 10 ns each */
  }
  e_return(&t);                 /* c 30, 30 and 30 ns */
  GIVES(&t, 61, ">a >c <c:y(01c5) >c* <c:y(01c5) >c* <c(01c5) <a");
  GIVES(&t, 91, ">a <a");
  tg_stream_unpin(t.stream);
}

/* Calls of a coroutine that is not resumed have run what they have. */
static void suspended (void) {
  for (int gone = 0; gone < 2; gone++) {
    Tape t = start();
    e_resume(&t, 2);
    e_call(&t, A, 0, NULL);
    e_call(&t, B, 0, NULL);
    e_plain(&t, TG_EV_YIELD, VALUE);      /* a 20 ns, b 10 ns */
    if (gone)
      e_gone(&t, 2);
    e_call(&t, C, 0, NULL);
    e_return(&t);                         /* 10 ns */
    GIVES(&t, 10, ">a >b <b:y(01c5) <a:y(01c5) >c <c");
    GIVES(&t, 20, ">a <a:y(01c5)");
    GIVES(&t, 21, "");
    tg_stream_unpin(t.stream);
  }
}

/* More than fits at first, with values that grow. */
static void deep (void) {
  tg_Buf wanted = {0};
  Tape t = start();
  for (int i = 0; i < 100; i++)
    e_call(&t, A, 0, "0123456789");
  for (int i = 0; i < 100; i++)
    e_return(&t);
  for (int i = 0; i < 2 * 50; i++) {
    tg_buf_addstr(&wanted, i > 0 ? " " : "");
    tg_buf_addstr(&wanted, i < 50 ? ">a(30313233343536373839)" : "<a");
  }
  tg_buf_addchar(&wanted, '\0');
  GIVES(&t, 1010, wanted.data);           /* the innermost 50 are shorter */
  tg_buf_free(&wanted);
  tg_stream_unpin(t.stream);
}

/*
** {==================================================================
** The model
** ===================================================================
*/

#define MOST 400

/* All packets of a stream, with the call that each is of. */
typedef struct All {
  tg_Packet p[MOST];
  size_t call[MOST];
  uint64_t ran_ns[MOST];      /* of a call */
  bool open[MOST];            /* it is so at the end */
  size_t count, calls;
} All;

#define THREADS 4

/* A frame is known by its coroutine and its level there. */
typedef struct Level {
  size_t call;
  uint64_t since_ns;
  bool there;                 /* perhaps suspended */
} Level;

static void judge (All *all) {
  static Level levels[THREADS][MOST];
  size_t depth[THREADS] = {0};
  memset(levels, 0, sizeof levels);
  all->calls = 0;
  for (size_t i = 0; i < all->count; i++) {
    const tg_Packet *p = &all->p[i];
    bool entry = p->why == TG_WHY_ENTER;
    size_t level = entry ? depth[p->thread]++ : --depth[p->thread];
    Level *l = &levels[p->thread][level];
    if (entry && !(p->resumed && l->there)) {
      l->call = all->calls++;
      all->ran_ns[l->call] = 0;
    }
    if (entry)
      l->since_ns = p->time_ns;
    else
      all->ran_ns[l->call] += p->time_ns - l->since_ns;
    l->there = entry || p->why == TG_WHY_YIELD;
    all->open[l->call] = entry;
    all->call[i] = l->call;
  }
}

static bool stays (const All *all, size_t i, uint64_t min_ns) {
  size_t call = all->call[i];
  return all->open[call] || all->ran_ns[call] >= min_ns;
}

/* Reads without the filter. What packets borrow stays in the file. */
static void read_all (const Tape *t, All *all) {
  tg_Selection d = everything();
  tg_Reader *r = tg_reader_new(t->stream, 0, &d);
  all->count = 0;
  while (all->count < MOST
         && tg_reader_next(r, UINT64_MAX, &all->p[all->count]))
    all->count++;
  UNIT_CHECK(tg_reader_status(r) == TG_OK);
  judge(all);
  tg_reader_free(r);
  tg_selection_clear(&d);
}

/* Coroutines on the chain, innermost last; the main one is 1. */
typedef struct Chain {
  uint32_t threads[THREADS];
  uint32_t count;
} Chain;

static void random_switch (Tape *t, Chain *c, uint32_t thread, uint32_t x) {
  bool there = false;
  for (uint32_t i = 0; i < c->count; i++)
    there = there || c->threads[i] == thread;
  if (!there) {
    e_resume(t, thread);
    c->threads[c->count++] = thread;
  }
  else if (c->count > 1) {
    e_plain(t, x & 1 ? TG_EV_YIELD : TG_EV_LEAVE, x & 1 ? VALUE : NULL);
    c->count--;
  }
}

static void random_event (Tape *t, Chain *c, uint64_t *seed) {
  uint32_t x = unit_random(seed);
  const char *values = x & 1024 ? VALUE : x & 2048 ? "several bytes" : NULL;
  switch (x % 10) {
    case 0: case 1: case 2:
      e_call(t, 1 + x / 10 % 4, x & 4096 ? TG_EVF_TAIL : 0, values);
      break;
    case 3: case 4: e_plain(t, TG_EV_RETURN, values); break;
    case 5: e_throw(t, x / 10 % 3, VALUE); break;
    case 6: e_return(t); break;
    default: random_switch(t, c, 1 + x / 10 % (THREADS - 1), x >> 13); break;
  }
}

static void model (void) {
  static All all;
  uint64_t seed = 42;
  for (int round = 0; round < 2000; round++) {
    tg_Buf wanted = {0};
    Tape t = start();
    Chain chain = {{1}, 1};
    uint64_t min_ns = 1 + unit_random(&seed) % 200;
    for (int i = 0; i < 80; i++)
      random_event(&t, &chain, &seed);
    read_all(&t, &all);
    for (size_t i = 0; i < all.count; i++) {
      if (stays(&all, i, min_ns))
        tell(&wanted, &all.p[i]);
    }
    tg_buf_addchar(&wanted, '\0');
    GIVES(&t, min_ns, wanted.data);
    tg_buf_free(&wanted);
    tg_stream_unpin(t.stream);
  }
}

/* }================================================================== */

static tg_Status status_after (const Tape *t, uint64_t refused) {
  tg_Selection d = everything();
  tg_Reader *r = tg_reader_new(t->stream, 0, &d);
  tg_MinDuration s;
  tg_Packet p;
  tg_minduration_init(&s, r, 1000);
#ifdef TG_TEST
  tg_alloc_fail(refused);
#else
  (void)refused;
#endif
  while (tg_minduration_next(&s, UINT64_MAX, &p))
    tell(&told, &p);
#ifdef TG_TEST
  tg_alloc_fail(0);
#endif
  tg_Status status = tg_minduration_status(&s);
  tg_minduration_free(&s);
  tg_reader_free(r);
  tg_selection_clear(&d);
  return status;
}

/* What was read before bad bytes is given. */
static void malformed (void) {
  Tape t = start();
  e_call(&t, A, 0, VALUE);
  e_resume(&t, 1);                        /* runs already */
  UNIT_CHECK(status_after(&t, 0) == TG_ERR_FORMAT);
  UNIT_TEXT(&told, ">a(01c5)");
  tg_stream_unpin(t.stream);
}

#ifdef TG_TEST

static void refusals (void) {
  Tape t = start();
  for (int i = 0; i < 100; i++)
    e_call(&t, A, 0, "0123456789");
  for (uint64_t n = 1; n < 20; n++) {
    tg_Status status = status_after(&t, n);
    UNIT_CHECK(status == TG_ERR_MEMORY || n > 4);
    tg_buf_clear(&told);
  }
  tg_stream_unpin(t.stream);
}

#endif

int main (void) {
  UNIT_RUN(durations);
  UNIT_RUN(ticks);
  UNIT_RUN(still_open);
  UNIT_RUN(in_steps);
  UNIT_RUN(ends);
  UNIT_RUN(resumed);
  UNIT_RUN(within_short);
  UNIT_RUN(suspended);
  UNIT_RUN(deep);
  UNIT_RUN(model);
  UNIT_RUN(malformed);
#ifdef TG_TEST
  UNIT_RUN(refusals);
#endif
  tg_buf_free(&told);
  return UNIT_END();
}
