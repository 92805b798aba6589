/*
** test_sieve.c - short calls left out, compared with leaving them out of a
** list of all packets.
**
** Packets are told as in test_reader.c. Each event is 10 ns after the last.
*/
#include "alloc.h"
#include "capture.h"
#include "sieve.h"
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

static tg_Demand everything (void) {
  tg_Options o;
  tg_Demand d = {0};
  tg_options_init(&o);
  tg_demand_add(&d, &o);
  return d;
}

/* Tells what 'next' gives before 'end'; sequence and depth must be right. */
static void tell_until (tg_Sieve *s, tg_Pos end, uint64_t *sequence) {
  tg_Packet p;
  while (tg_sieve_next(s, end, &p)) {
    UNIT_CHECK(p.sequence == (*sequence)++);
    tell(&told, &p);
  }
}

static void read_with (const Tape *t, uint64_t min_ns) {
  tg_Demand d = everything();
  tg_Reader *r = tg_reader_new(t->stream, 0, &d);
  tg_Sieve s;
  uint64_t sequence = 0;
  tg_sieve_init(&s, r, min_ns);
  tell_until(&s, UINT64_MAX, &sequence);
  UNIT_CHECK(tg_sieve_status(&s) == TG_OK);
  tg_sieve_free(&s);
  tg_reader_free(r);
  tg_demand_clear(&d);
}

#define GIVES(t, min_ns, wanted) \
  (read_with((t), (min_ns)), UNIT_TEXT(&told, wanted))

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
  tg_Demand d = everything();
  tg_Reader *r = tg_reader_new(t.stream, 0, &d);
  tg_Sieve s;
  uint64_t sequence = 0;
  tg_sieve_init(&s, r, 25);
  e_call(&t, A, 0, VALUE);
  e_call(&t, B, 0, NULL);
  tell_until(&s, tape_pos(&t), &sequence);
  UNIT_TEXT(&told, ">a(01c5) >b");
  e_call(&t, C, 0, NULL);
  e_return(&t);
  e_return(&t);
  tell_until(&s, tape_pos(&t), &sequence);
  UNIT_TEXT(&told, "<b");
  tg_sieve_free(&s);
  tg_reader_free(r);
  tg_demand_clear(&d);
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

/* Each stay of a frame on the chain is a call of its own. */
static void resumed (void) {
  Tape t = start();
  e_resume(&t, 2);
  e_call(&t, A, 0, NULL);
  e_plain(&t, TG_EV_YIELD, VALUE);        /* 10 ns */
  e_resume(&t, 2);
  e_call(&t, B, 0, NULL);
  e_return(&t);
  e_return(&t);                           /* 30 ns */
  GIVES(&t, 15, ">a* <a");
  tg_stream_unpin(t.stream);
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

/* What refers to a string in the stream stands by itself when held back. */
static void references (void) {
  tg_Cursor hold;
  Tape t = start();
  tg_cursor_first(&hold, &t.stream->store);
  const uint8_t *tag = e_call_long(&t, A, "xyz", NULL);
  e_call_long(&t, B, NULL, tag);
  e_call_long(&t, C, NULL, tag);
  tape_chunk(&t, 3);
  e_return(&t);
  GIVES(&t, 1000, ">a(0107030378797a) >b(0107030378797a)");
  tg_cursor_drop(&hold);
  tg_stream_unpin(t.stream);
}

/*
** {==================================================================
** The model
** ===================================================================
*/

#define MOST 400

/* All packets of a stream, with the index of the other half, or their own. */
typedef struct All {
  tg_Packet p[MOST];
  size_t other[MOST];
  size_t count;
} All;

static void pair_up (All *all) {
  size_t open[MOST], depth = 0;
  for (size_t i = 0; i < all->count; i++) {
    all->other[i] = i;
    if (all->p[i].why == TG_WHY_ENTER)
      open[depth++] = i;
    else {
      size_t entry = open[--depth];
      all->other[i] = entry;
      all->other[entry] = i;
    }
  }
}

static bool stays (const All *all, size_t i, uint64_t min_ns) {
  size_t j = all->other[i];
  size_t from = i < j ? i : j, to = i < j ? j : i;
  return i == j || all->p[to].time_ns - all->p[from].time_ns >= min_ns;
}

/* Reads without the sieve. What packets borrow stays in the tape, but for
   what a reader keeps itself: there are no yields here. */
static void read_all (const Tape *t, All *all) {
  tg_Demand d = everything();
  tg_Reader *r = tg_reader_new(t->stream, 0, &d);
  all->count = 0;
  while (all->count < MOST
         && tg_reader_next(r, UINT64_MAX, &all->p[all->count]))
    all->count++;
  pair_up(all);
  tg_reader_free(r);
  tg_demand_clear(&d);
}

static void random_event (Tape *t, uint64_t *seed) {
  uint32_t x = unit_random(seed);
  const char *values = x & 1024 ? VALUE : x & 2048 ? "several bytes" : NULL;
  switch (x % 8) {
    case 0: case 1: case 2:
      e_call(t, 1 + x / 8 % 4, x & 4096 ? TG_EVF_TAIL : 0, values);
      break;
    case 3: case 4: case 5: e_plain(t, TG_EV_RETURN, values); break;
    case 6: e_throw(t, x / 8 % 4, VALUE); break;
    default: e_return(t); break;
  }
}

static void model (void) {
  static All all;
  uint64_t seed = 42;
  for (int round = 0; round < 500; round++) {
    tg_Buf wanted = {0};
    Tape t = start();
    uint64_t min_ns = unit_random(&seed) % 200;
    for (int i = 0; i < 60; i++)
      random_event(&t, &seed);
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
  tg_Demand d = everything();
  tg_Reader *r = tg_reader_new(t->stream, 0, &d);
  tg_Sieve s;
  tg_Packet p;
  tg_sieve_init(&s, r, 1000);
#ifdef TG_TEST
  tg_alloc_fail(refused);
#else
  (void)refused;
#endif
  while (tg_sieve_next(&s, UINT64_MAX, &p))
    tell(&told, &p);
#ifdef TG_TEST
  tg_alloc_fail(0);
#endif
  tg_Status status = tg_sieve_status(&s);
  tg_sieve_free(&s);
  tg_reader_free(r);
  tg_demand_clear(&d);
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
  UNIT_RUN(still_open);
  UNIT_RUN(in_steps);
  UNIT_RUN(ends);
  UNIT_RUN(resumed);
  UNIT_RUN(deep);
  UNIT_RUN(references);
  UNIT_RUN(model);
  UNIT_RUN(malformed);
#ifdef TG_TEST
  UNIT_RUN(refusals);
#endif
  tg_buf_free(&told);
  return UNIT_END();
}
