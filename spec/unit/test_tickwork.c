/*
** test_tickwork.c - what is owed to a program whose stack is looked at: of
** processor time that passes in fact. The file is of the world with Lua, and
** has nothing of it: it is compiled in here.
*/
#include "sample/tickwork.c"

#include "unit.h"

#define MS UINT64_C(1000000)

static tg_TickWork begin (void) {
  tg_Clock clock;
  tg_clock_setup();
  tg_clock_start(&clock);
  return (tg_TickWork){.ns_per_tick = clock.ns_per_tick};
}

static void run (uint64_t ns) {
  uint64_t until = tg_ticker_used_ns() + ns;
  while (tg_ticker_used_ns() < until)
    continue;
}

/* A hook that looks for so long. */
static void look (tg_TickWork *w, uint64_t ns) {
  tg_TickMoment begun = tg_tickmoment_now();
  tg_tickwork_begin(w);
  run(ns);
  tg_tickwork_end(w, begun);
}

static bool is_soon (const tg_TickWork *w) {
  return tg_tickwork_is_soon(w, tg_ticker_used_ns());
}

static void half (void) {
  tg_TickWork w = begin();
  UNIT_CHECK(!is_soon(&w));
  look(&w, 2 * MS);
  UNIT_CHECK(is_soon(&w));
  run(3 * MS);
  UNIT_CHECK(!is_soon(&w));
}

/* One right after the other: the program has run for neither. */
static void added (void) {
  tg_TickWork w = begin();
  look(&w, 4 * MS);
  look(&w, 4 * MS);
  UNIT_CHECK(tg_tickwork_owes(&w, w.rested_ns) >= 7 * MS);
}

/* However many they were, if the program has run in between. */
static void paid (void) {
  tg_TickWork w = begin();
  for (int i = 0; i < 40; i++) {
    look(&w, MS / 10);
    run(MS / 2);
    UNIT_CHECK(!is_soon(&w));
  }
}

/* A tick that leaves its sample to a hook, which comes much later. */
static void noted (void) {
  tg_TickWork w = begin();
  tg_TickMoment begun = tg_tickmoment_now();
  run(MS);
  tg_tickwork_note(&w, begun, 2);
  UNIT_CHECK(is_soon(&w));
  run(3 * MS);
  look(&w, MS);
  UNIT_CHECK(tg_tickwork_owes(&w, w.rested_ns) < 2 * MS);
  run(2 * MS);
  UNIT_CHECK(!is_soon(&w));
}

static void another_thread (void) {
  tg_TickWork w = {.worked_ns = MS, .rested_ns = 1000 * MS};
  UNIT_CHECK(tg_tickwork_is_soon(&w, 1000 * MS + 1));
  UNIT_CHECK(!tg_tickwork_is_soon(&w, MS));
}

int main (void) {
  UNIT_RUN(half);
  UNIT_RUN(added);
  UNIT_RUN(paid);
  UNIT_RUN(noted);
  UNIT_RUN(another_thread);
  return UNIT_END();
}
