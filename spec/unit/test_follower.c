/*
** test_follower.c - a reader on a thread of its own, beside the thread that
** writes: who waits for whom, and where it ends. Run under the thread sanitizer
** too.
*/
#include <pthread.h>

#include "base/clock.h"
#include "capture.h"
#include "reader/follower.h"
#include "unit.h"

#define MS UINT64_C(1000000)
#define BUFFER 20000u
#define EVENTS 60000u
#define NEED 64u            /* more than a call without values takes */

enum { F = 1 };

static const uint32_t chain[] = {1, 0};

/* A stream with a CONTEXT, whose first chunk stays; a follower from there that
   one trace feeds. */
typedef struct Pair {
  Tape tape;
  tg_Cursor start;
  tg_Follower *follower;
} Pair;

static Pair pair_new (uint64_t stall_ns) {
  Pair p = {.tape = tape_new()};
  tg_Options o;
  tg_Selection all = {0};
  tg_options_init(&o);
  tg_selection_add(&all, &o);
  define(p.tape.stream, "f", 1);
  e_context(&p.tape, 0, 1, chain);
  tg_cursor_first(&p.start, &p.tape.stream->store);
  p.follower = tg_follower_new(p.tape.stream, 0, &all, stall_ns);
  tg_follower_join(p.follower);
  tg_selection_clear(&all);
  return p;
}

static void pair_free (Pair *p) {
  tg_follower_unpin(p->follower);
  tg_cursor_drop(&p->start);
  tg_stream_unpin(p->tape.stream);
}

/* A call and its return. */
static void write_pair (Tape *t) {
  const uint8_t *end = (const uint8_t *)t->chunk->block + t->chunk->size;
  if (end - t->p < 256)
    tape_chunk(t, 0);
  e_call(t, F, 0, NULL);
  e_return(t);
}

static uint64_t read_all (tg_Follower *f) {
  tg_Packet p;
  uint64_t n = 0;
  while (tg_follower_next(f, &p))
    n++;
  return n;
}

/* ---- in one thread ---- */

static void ends_where_its_trace_ended (void) {
  Pair p = pair_new(0);
  write_pair(&p.tape);
  tg_Pos end = tape_pos(&p.tape);
  UNIT_CHECK(read_all(p.follower) == 2);
  UNIT_CHECK(tg_follower_state(p.follower) == TG_FOLLOWER_RUNNING);
  tg_follower_part(p.follower, end, 0);
  write_pair(&p.tape);      /* another trace goes on */
  UNIT_CHECK(read_all(p.follower) == 0);
  UNIT_CHECK(tg_follower_state(p.follower) == TG_FOLLOWER_ENDED);
  pair_free(&p);
}

static void ends_where_the_last_of_them_ended (void) {
  Pair p = pair_new(0);
  tg_follower_join(p.follower);
  write_pair(&p.tape);
  tg_follower_part(p.follower, tape_pos(&p.tape), 0);
  write_pair(&p.tape);
  tg_follower_part(p.follower, tape_pos(&p.tape), 0);
  write_pair(&p.tape);
  UNIT_CHECK(read_all(p.follower) == 4);
  UNIT_CHECK(tg_follower_state(p.follower) == TG_FOLLOWER_ENDED);
  pair_free(&p);
}

static void stops_where_it_is_asked_to (void) {
  Pair p = pair_new(0);
  write_pair(&p.tape);
  tg_Pos half = tape_pos(&p.tape);
  write_pair(&p.tape);
  tg_follower_upto(p.follower, half);
  UNIT_CHECK(read_all(p.follower) == 2);
  UNIT_CHECK(tg_follower_done(p.follower) == half);
  tg_follower_upto(p.follower, TG_FOLLOWER_NONE);
  UNIT_CHECK(read_all(p.follower) == 2);
  pair_free(&p);
}

static void admits_what_fits (void) {
  Pair p = pair_new(1000 * MS);
  tg_Follower *f = p.follower;
  tg_Pos pos = tape_pos(&p.tape);
  uint64_t before = tg_clock_monotonic_ns();
  UNIT_CHECK(tg_follower_admit(f, pos, 100, pos + 100, UINT64_MAX));
  UNIT_CHECK(!tg_follower_admit(f, pos, 101, pos + 100, 0));
  read_all(f);              /* what is larger than the buffer has its turn */
  UNIT_CHECK(tg_follower_admit(f, pos, 1000, 100, 0));
  UNIT_CHECK(tg_clock_monotonic_ns() - before < 1000 * MS);
  pair_free(&p);
}

static void never_waits_without_patience (void) {
  Pair p = pair_new(0);
  UNIT_CHECK(!tg_follower_admit(p.follower, tape_pos(&p.tape), 64, 8,
                                UINT64_MAX));
  pair_free(&p);
}

static void waits_no_longer_than_it_is_allowed_to (void) {
  Pair p = pair_new(60000 * MS);
  UNIT_CHECK(!tg_follower_admit(p.follower, tape_pos(&p.tape), 64, 8,
                                tg_clock_ticks() + 1000));
  pair_free(&p);
}

static void gives_up_on_a_reader_that_stands_still (void) {
  Pair p = pair_new(20 * MS);
  uint64_t before = tg_clock_monotonic_ns();
  UNIT_CHECK(!tg_follower_admit(p.follower, tape_pos(&p.tape), 64, 8,
                                UINT64_MAX));
  UNIT_CHECK(tg_clock_monotonic_ns() - before >= 20 * MS);
  pair_free(&p);
}

/* ---- in two ---- */

typedef struct Reading {
  tg_Follower *follower;
  uint64_t packets;
  bool broken;
} Reading;

static void *read_to_the_end (void *ud) {
  Reading *r = ud;
  tg_FollowerState state;
  do {
    r->packets += read_all(r->follower);
    state = tg_follower_state(r->follower);
    if (state == TG_FOLLOWER_RUNNING)
      tg_follower_wait(r->follower, MS);
  } while (state == TG_FOLLOWER_RUNNING);
  r->broken = state == TG_FOLLOWER_BROKEN;
  return NULL;
}

static void writer_waits_for_a_slow_reader (void) {
  Pair p = pair_new(10000 * MS);
  Reading r = {.follower = tg_follower_pin(p.follower)};
  uint32_t refused = 0, beyond = 0;
  pthread_t reader;
  pthread_create(&reader, NULL, read_to_the_end, &r);
  for (uint32_t i = 0; i < EVENTS; i++) {
    tg_Pos pos = tape_pos(&p.tape);
    refused += !tg_follower_admit(p.follower, pos, NEED, BUFFER, UINT64_MAX);
    beyond += pos + NEED > tg_follower_pos(p.follower) + BUFFER;
    write_pair(&p.tape);
  }
  tg_follower_part(p.follower, tape_pos(&p.tape), 0);
  pthread_join(reader, NULL);
  UNIT_CHECK(refused == 0 && beyond == 0);
  UNIT_CHECK(!r.broken && r.packets == 2 * EVENTS);
  tg_follower_unpin(r.follower);
  pair_free(&p);
}

static void *leave (void *ud) {
  tg_Follower *f = ud;
  while (atomic_load(&f->wanted) == TG_FOLLOWER_NONE)
    continue;               /* until the writer waits */
  tg_follower_leave(f);
  return NULL;
}

static void reader_that_leaves_frees_the_writer (void) {
  Pair p = pair_new(60000 * MS);
  uint64_t before = tg_clock_monotonic_ns();
  pthread_t reader;
  pthread_create(&reader, NULL, leave, p.follower);
  UNIT_CHECK(!tg_follower_admit(p.follower, tape_pos(&p.tape), 64, 8,
                                UINT64_MAX));
  UNIT_CHECK(tg_clock_monotonic_ns() - before < 30000 * MS);
  pthread_join(reader, NULL);
  pair_free(&p);
}

/* Another trace writes on where the follower's has ended: the reader must not
   take a step beyond. */
static void reader_never_goes_beyond_the_end (void) {
  for (int i = 0; i < 200; i++) {
    Pair p = pair_new(0);
    Reading r = {.follower = tg_follower_pin(p.follower)};
    pthread_t reader;
    pthread_create(&reader, NULL, read_to_the_end, &r);
    for (int k = 0; k < 20; k++)
      write_pair(&p.tape);
    tg_follower_part(p.follower, tape_pos(&p.tape), 0);
    for (int k = 0; k < 20; k++)
      write_pair(&p.tape);
    pthread_join(reader, NULL);
    UNIT_CHECK(r.packets == 40);
    tg_follower_unpin(r.follower);
    pair_free(&p);
  }
}

/* The one that lets go last frees it, whichever that is. */
static void *let_go (void *ud) {
  tg_follower_unpin(ud);
  return NULL;
}

static void last_to_let_go_frees_it (void) {
  for (int i = 0; i < 200; i++) {
    Pair p = pair_new(0);
    pthread_t reader;
    pthread_create(&reader, NULL, let_go, tg_follower_pin(p.follower));
    pair_free(&p);
    pthread_join(reader, NULL);
  }
}

int main (void) {
  UNIT_RUN(ends_where_its_trace_ended);
  UNIT_RUN(ends_where_the_last_of_them_ended);
  UNIT_RUN(stops_where_it_is_asked_to);
  UNIT_RUN(admits_what_fits);
  UNIT_RUN(never_waits_without_patience);
  UNIT_RUN(waits_no_longer_than_it_is_allowed_to);
  UNIT_RUN(gives_up_on_a_reader_that_stands_still);
  UNIT_RUN(writer_waits_for_a_slow_reader);
  UNIT_RUN(reader_that_leaves_frees_the_writer);
  UNIT_RUN(reader_never_goes_beyond_the_end);
  UNIT_RUN(last_to_let_go_frees_it);
  return UNIT_END();
}
