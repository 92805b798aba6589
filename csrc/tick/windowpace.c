/*
** windowpace.c - see windowpace.h.
*/
#include "tick/windowpace.h"

#define TICKS 2                 /* in a window, at least */
#define SECOND UINT64_C(1000000000)

void tg_windowpace_begin (tg_WindowPace *p, uint32_t percent, uint64_t each_ns,
                          uint32_t hz, uint64_t used_ns) {
  tg_assert(percent < 100 && (percent == 0 || hz > 0));
  *p = (tg_WindowPace){.random = 2463534242u};
  if (percent == 0)
    return;
  uint64_t open = percent * each_ns, least = TICKS * (SECOND / hz);
  p->open_ns = open > least ? open : least;
  p->shut_ns = p->open_ns / percent * (100 - percent);
  tg_windowpace_turn(p, false, used_ns);
}

/* Marsaglia's xorshift. */
static uint32_t next_random (tg_WindowPace *p) {
  p->random ^= p->random << 13;
  p->random ^= p->random >> 17;
  p->random ^= p->random << 5;
  return p->random;
}

/* From a half to one and a half of the mean, by 1,024 steps. */
static uint64_t varied (tg_WindowPace *p, uint64_t mean_ns) {
  return mean_ns / 2 + mean_ns / 1024 * (next_random(p) & 1023);
}

void tg_windowpace_turn (tg_WindowPace *p, bool open, uint64_t used_ns) {
  if (open)
    p->until_ns = used_ns + p->open_ns;
  else {
    uint64_t late = used_ns > p->until_ns && p->until_ns > 0
                    ? used_ns - p->until_ns : 0;
    p->until_ns = used_ns + varied(p, p->shut_ns)
                  + late * p->shut_ns / p->open_ns;
  }
}
