/*
** screen.c - see screen.h. The terminal is asked for its height once in each
** frame, for it may be made smaller or larger at any time.
*/
#include "packet/screen.h"

#include "base/clock.h"

#define FRAME_NS UINT64_C(50000000)

void tg_screen_refresh (tg_Screen *s, const tg_FdWriter *to) {
  uint64_t frame = tg_clock_monotonic_ns() / FRAME_NS;
  if (frame == s->frame)
    return;
  uint32_t rows = tg_fdwriter_height(to);
  s->frame = frame;
  s->bounded = rows > 0;
  s->left = rows > 1 ? rows - 1 : 1;    /* one tells what is left out */
}
