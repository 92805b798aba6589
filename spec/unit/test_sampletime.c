/*
** test_sampletime.c - the time that samples stand for, where ticks are told
** apart. The file is of the world with Lua, and has nothing of it: it is
** compiled in here.
*/
#include "sample/sampletime.c"
#include "unit.h"

static tg_SampleTime begun (void) {
  tg_SampleTime t = {.ns_per_tick = 1};
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

int main (void) {
  UNIT_RUN(plain);
  UNIT_RUN(hooks);
  UNIT_RUN(pending);
  UNIT_RUN(waits);
  return UNIT_END();
}
