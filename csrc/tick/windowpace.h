/*
** windowpace.h - when a window is open: so many percent of a thread's processor
** time, in stretches of which a tick begins each and a tick ends each.
**
** A window is half a millisecond for each percent, of 50 in the mean; or two
** ticks, if that is longer, of as much more. How long it is shut before varies
** by a half, so that a program with a rhythm of its own is not always met at
** the same place. By as much as a window was too long, since the tick that was
** to end it came late, the next one is later.
**
** Plain arithmetic, on the thread that ticks.
*/
#ifndef TG_WINDOWPACE_H
#define TG_WINDOWPACE_H

#include "base/base.h"

typedef struct tg_WindowPace {
  uint64_t open_ns, shut_ns;    /* how long, in the mean; 0: never open */
  uint64_t until_ns;            /* processor time of the next change */
  uint32_t random;
} tg_WindowPace;

#define TG_WINDOWPACE_NS UINT64_C(500000)       /* for each percent */

/* So many percent from now on, of so much for each, by ticks at that rate. It
   begins shut. */
void tg_windowpace_begin (tg_WindowPace *p, uint32_t percent, uint64_t each_ns,
                          uint32_t hz, uint64_t used_ns);

/* At a tick: whether it is time for the other state. */
TG_INLINE bool tg_windowpace_due (const tg_WindowPace *p, uint64_t used_ns) {
  return p->open_ns > 0 && used_ns >= p->until_ns;
}

/* It is open, or shut, from now on. */
void tg_windowpace_turn (tg_WindowPace *p, bool open, uint64_t used_ns);

#endif
