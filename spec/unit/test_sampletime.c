/*
** test_sampletime.c - the time that samples stand for, where ticks are told
** apart. The file is of the world with Lua, and has nothing of it: it is
** compiled in here.
*/
#include "sample/sampletime.c"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static tg_SampleTime begun (void) {
  tg_SampleTime t = {.ns_per_tick = 1, .delays.fd = -1};
  tg_sampletime_begin(&t, 0, 1000);
  return t;
}

static void plain (void) {
  tg_SampleTime t = begun();
  UNIT_CHECK(tg_sampletime_used(&t, 1, 1300) == 300);
  UNIT_CHECK(tg_sampletime_used(&t, 2, 1300) == 0);
  UNIT_CHECK(tg_sampletime_used(&t, 3, 1200) == 0);     /* another thread */
  UNIT_CHECK(tg_sampletime_used(&t, 4, 1250) == 50);
}

/* What was the hook's is not the sample's. */
static void hooks (void) {
  tg_SampleTime t = begun();
  tg_sampletime_apart(&t, 1100, true);
  tg_sampletime_apart(&t, 1250, true);
  UNIT_CHECK(t.hook_ns == 250);
  UNIT_CHECK(tg_sampletime_used(&t, 1, 1300) == 50);
  UNIT_CHECK(t.hook_ns == 0);
}

/* A tick whose sample was still to come when the hook was struck. */
static void pending (void) {
  tg_SampleTime t = begun();
  tg_sampletime_apart(&t, 1100, false);
  tg_sampletime_apart(&t, 1250, true);
  tg_sampletime_apart(&t, 1300, false);
  UNIT_CHECK(t.hook_ns == 150);
  UNIT_CHECK(tg_sampletime_used(&t, 1, 1310) == 160);
  UNIT_CHECK(tg_sampletime_used(&t, 2, 1320) == 10);
}

/* A C function that does not return waits for its sample as long as without
   ticks that are told apart. */
static void waits (void) {
  enum { SECOND = 1000000000 };
  tg_SampleTime t = begun(), other = begun();
  for (uint64_t ns = 1000; ns < SECOND; ns += 1000000) {
    tg_sampletime_apart(&other, ns, false);
    bool can = tg_sampletime_can_wait(&t, ns > 1000, ns);
    UNIT_CHECK(tg_sampletime_can_wait(&other, ns > 1000, ns) == can);
    if (!can)
      UNIT_CHECK(tg_sampletime_used(&t, ns, ns)
                 == tg_sampletime_used(&other, ns, ns));
  }
}

/* What was held is told apart from what comes next. */
static void held (void) {
  tg_SampleTime t = begun();
  tg_sampletime_hold(&t, 5, 1300, 2);
  tg_sampletime_hold(&t, 9, 1700, 3);
  UNIT_CHECK(t.held_ticks == 3);
  UNIT_CHECK(tg_sampletime_release(&t) == 700 && t.held_ns == 0);
  UNIT_CHECK(t.at == 9);
  UNIT_CHECK(tg_sampletime_used(&t, 12, 1750) == 50);
  tg_sampletime_apart(&t, 1800, false);
  tg_sampletime_hold(&t, 20, 1810, 1);
  UNIT_CHECK(tg_sampletime_release(&t) == 60);
  UNIT_CHECK(tg_sampletime_used(&t, 21, 1815) == 5);
  tg_sampletime_hold(&t, 30, 1900, 1);
  UNIT_CHECK(tg_sampletime_used(&t, 31, 1950) == 135 && t.held_ns == 0);
}

/* A file in place of the kernel's. */
static int counting (void) {
  char name[] = "/tmp/test_sampletime_XXXXXX";
  int fd = mkstemp(name);
  UNIT_CHECK(fd >= 0);
  unlink(name);
  return fd;
}

static void count (int fd, const char *text) {
  UNIT_CHECK(ftruncate(fd, 0) == 0);
  UNIT_CHECK(pwrite(fd, text, strlen(text), 0) == (ssize_t)strlen(text));
}

enum { MS = 1000000 };

/* The part of the time without work that the kernel says was others'. */
static void others (void) {
  tg_SampleTime t = {.ns_per_tick = 1, .delays.fd = counting()};
  count(t.delays.fd, "77 1000000 3\n");
  tg_sampletime_begin(&t, 0, 0);
  UNIT_CHECK(t.delayed_ns == MS);
  count(t.delays.fd, "99 4000000 5\n");
  UNIT_CHECK(tg_sampletime_others(&t, 10 * MS, 2 * MS) == 3 * MS);
  UNIT_CHECK(tg_sampletime_others(&t, 10 * MS, 2 * MS) == 0);
  UNIT_CHECK(tg_sampletime_used(&t, 10 * MS, 2 * MS) == 2 * MS);
  count(t.delays.fd, "99 104000000 6\n");
  UNIT_CHECK(tg_sampletime_others(&t, 15 * MS, 6 * MS) == 1 * MS);
  UNIT_CHECK(tg_sampletime_used(&t, 15 * MS, 6 * MS) == 4 * MS);
  tg_delays_close(&t.delays);
}

/* Another file has come in its place. */
static void not_told (void) {
  static const char *const texts[] = {
    "", "1 2", "1 2 3", "1 2 3\n4", "a b c\n", " 1 2 3\n", "1 2 3 \n"
  };
  tg_Delays d = {.fd = counting()};
  uint64_t ns = 5;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    count(d.fd, texts[i]);
    UNIT_CHECK(!tg_delays_ask(&d, &ns) && ns == 5);
  }
  count(d.fd, "1 2 3\n");
  UNIT_CHECK(tg_delays_ask(&d, &ns) && ns == 2);
  tg_delays_close(&d);
  UNIT_CHECK(!tg_delays_ask(&d, &ns));
}

/* By the clock: what ran, what others had, and the rest, a wait. */
static void by_clock (void) {
  tg_SampleTime t = {.ns_per_tick = 1, .by_clock = true,
                     .delays.fd = counting()};
  count(t.delays.fd, "0 0 0\n");
  tg_sampletime_begin(&t, 0, 0);
  count(t.delays.fd, "0 3000000 0\n");
  uint64_t now = 10 * MS, used = 2 * MS;
  t.told = tg_sampletime_until(&t, now, used, TG_FINDING_WAITING, 0);
  UNIT_CHECK(t.told == 5 * MS);
  t.told = tg_sampletime_until(&t, now, used, TG_FINDING_RUNNING, t.told);
  UNIT_CHECK(t.told == 7 * MS);
  t.told = tg_sampletime_until(&t, now, used, TG_FINDING_PREEMPTED, t.told);
  UNIT_CHECK(t.told == 10 * MS);
  tg_delays_close(&t.delays);
}

int main (void) {
  UNIT_RUN(plain);
  UNIT_RUN(hooks);
  UNIT_RUN(pending);
  UNIT_RUN(waits);
  UNIT_RUN(held);
  UNIT_RUN(others);
  UNIT_RUN(not_told);
  UNIT_RUN(by_clock);
  return UNIT_END();
}
