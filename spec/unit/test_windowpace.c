/*
** test_windowpace.c - when windows are open: what share of the time, at which
** rate of ticks, and after ticks that came late.
*/
#include "tick/windowpace.h"
#include "unit.h"

#define SECOND UINT64_C(1000000000)

/* The share in percent, by ticks 'tick_ns' apart, for so long. */
static double share (uint32_t percent, uint64_t tick_ns, uint64_t whole_ns) {
  tg_WindowPace p;
  uint64_t open_ns = 0;
  bool open = false;
  tg_windowpace_begin(&p, percent, TG_WINDOWPACE_NS,
                      (uint32_t)(SECOND / tick_ns), 1000);
  for (uint64_t ns = 1000; ns < whole_ns; ns += tick_ns) {
    if (tg_windowpace_due(&p, ns))
      tg_windowpace_turn(&p, open = !open, ns);
    open_ns += open ? tick_ns : 0;
  }
  return 100.0 * (double)open_ns / (double)whole_ns;
}

static bool is_near (double is, double wanted) {
  return is > 0.9 * wanted && is < 1.1 * wanted;
}

static void shares (void) {
  static const uint32_t percents[] = {1, 5, 10, 30, 50};
  for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
    UNIT_CHECK(is_near(share(percents[i], 100000, 100 * SECOND), percents[i]));
    UNIT_CHECK(is_near(share(percents[i], 250000, 100 * SECOND), percents[i]));
    UNIT_CHECK(is_near(share(percents[i], 4000000, 400 * SECOND),
                       percents[i]));
  }
}

static void none (void) {
  UNIT_CHECK(share(0, 100000, 10 * SECOND) == 0);
}

/* A window that begins or ends too late is made up for. */
static void late (void) {
  tg_WindowPace p;
  tg_windowpace_begin(&p, 10, TG_WINDOWPACE_NS, 4000, 0);
  tg_windowpace_turn(&p, true, 100000000);
  UNIT_CHECK(!tg_windowpace_due(&p, 104999999));
  UNIT_CHECK(tg_windowpace_due(&p, 105000000));
  tg_windowpace_turn(&p, false, 155000000);     /* 50 ms late */
  UNIT_CHECK(!tg_windowpace_due(&p, 155000000 + 450000000));
  UNIT_CHECK(tg_windowpace_due(&p, 155000000 + 450000000 + 67600000));
}

/* A program's rhythm is not always met at the same place. */
static void varies (void) {
  tg_WindowPace p;
  uint64_t least = UINT64_MAX, most = 0;
  tg_windowpace_begin(&p, 10, TG_WINDOWPACE_NS, 4000, 0);
  for (int i = 0; i < 100; i++) {
    uint64_t from = p.until_ns;
    tg_windowpace_turn(&p, true, from);
    tg_windowpace_turn(&p, false, from + 5000000);
    uint64_t shut = p.until_ns - from - 5000000;
    least = shut < least ? shut : least;
    most = shut > most ? shut : most;
  }
  UNIT_CHECK(least >= 22000000 && most <= 68000000);
  UNIT_CHECK(most - least > 30000000);
}

int main (void) {
  UNIT_RUN(shares);
  UNIT_RUN(none);
  UNIT_RUN(late);
  UNIT_RUN(varies);
  return UNIT_END();
}
