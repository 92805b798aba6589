/*
** test_timers.c - what the reader remembers of the past: timers that run, and
** what had been taken out of its clock.
*/
#include "reader/clockpast.h"
#include "reader/timers.h"
#include "unit.h"

/* ---- timers ---- */

static const tg_TimerStart *find (const tg_Timers *t, uint64_t ticks) {
  return tg_timers_find(t, ticks, 3);
}

static void knows_timers_that_run (void) {
  tg_Timers t = {0};
  UNIT_CHECK(find(&t, 100) == NULL);
  for (uint64_t i = 1; i <= 5; i++)
    UNIT_CHECK(tg_timers_begin(&t, 100 * i, 10 * i));
  UNIT_CHECK(find(&t, 96) == NULL && find(&t, 504) == NULL);
  UNIT_CHECK(find(&t, 97)->ns == 10 && find(&t, 503)->ns == 50);
  UNIT_CHECK(find(&t, 298)->ns == 30 && find(&t, 302)->ns == 30);
  tg_timers_end(&t, find(&t, 300));
  UNIT_CHECK(find(&t, 300) == NULL && t.count == 4);
  UNIT_CHECK(find(&t, 400)->ns == 40);
  tg_timers_end(&t, find(&t, 500));
  tg_timers_end(&t, find(&t, 100));
  UNIT_CHECK(t.count == 2 && find(&t, 200)->ns == 20);
  tg_timers_free(&t);
}

/* Two at one moment are two. */
static void timers_of_one_moment (void) {
  tg_Timers t = {0};
  UNIT_CHECK(tg_timers_begin(&t, 7, 5) && tg_timers_begin(&t, 7, 5));
  tg_timers_end(&t, find(&t, 7));
  UNIT_CHECK(find(&t, 7)->ns == 5);
  tg_timers_end(&t, find(&t, 7));
  UNIT_CHECK(find(&t, 7) == NULL);
  tg_timers_free(&t);
}

/* ---- the clock's past ---- */

static void before_the_first_moment (void) {
  tg_ClockPast c = {0};
  UNIT_CHECK(tg_clockpast_at(&c, 5) == 0);
  UNIT_CHECK(tg_clockpast_add(&c, 100, 40));
  UNIT_CHECK(tg_clockpast_at(&c, 5) == 40 && tg_clockpast_at(&c, 200) == 40);
  tg_clockpast_free(&c);
}

/* What grows evenly is known at all moments, however many have been. */
static void between_moments (void) {
  tg_ClockPast c = {0};
  const uint64_t n = 50 * TG_CLOCKPAST_MOST;
  for (uint64_t i = 0; i < n; i++)
    UNIT_CHECK(tg_clockpast_add(&c, 10 * i, 4 * i));
  UNIT_CHECK(c.count <= TG_CLOCKPAST_MOST);
  for (uint64_t ticks = 0; ticks < 10 * (n - 1); ticks += 12345) {
    uint64_t out = tg_clockpast_at(&c, ticks), exact = ticks * 4 / 10;
    UNIT_CHECK(out + 1 >= exact && out <= exact + 1);
  }
  tg_clockpast_free(&c);
}

/* Of what does not grow evenly the last moments are kept as they were. */
static void the_last_moments (void) {
  tg_ClockPast c = {0};
  uint64_t out[3 * TG_CLOCKPAST_MOST], n = 3 * TG_CLOCKPAST_MOST;
  for (uint64_t i = 0; i < n; i++) {
    out[i] = (i > 0 ? out[i - 1] : 0) + i * i % 97;
    UNIT_CHECK(tg_clockpast_add(&c, 100 * i, out[i]));
  }
  for (uint64_t i = n - TG_CLOCKPAST_MOST / 2; i < n; i++)
    UNIT_CHECK(tg_clockpast_at(&c, 100 * i) == out[i]);
  UNIT_CHECK(tg_clockpast_at(&c, 0) == 0);
  tg_clockpast_free(&c);
}

int main (void) {
  UNIT_RUN(knows_timers_that_run);
  UNIT_RUN(timers_of_one_moment);
  UNIT_RUN(before_the_first_moment);
  UNIT_RUN(between_moments);
  UNIT_RUN(the_last_moments);
  return UNIT_END();
}
