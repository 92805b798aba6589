/*
** tickwork.h - what a tick takes: the time in which a stack is looked at, and
** the rest that the program is given after it.
**
** On the thread that ticks, in its handler or not.
*/
#ifndef TG_TICKWORK_H
#define TG_TICKWORK_H

#include <signal.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "tick/ticker.h"

/* A moment: by the stream's clock, and as the thread's processor time. */
typedef struct tg_TickMoment {
  uint64_t ticks, used_ns;
} tg_TickMoment;

typedef struct tg_TickWork {
  uint64_t worked_ns;           /* processor time that the last tick took, */
  uint64_t rested_ns;           /* and the thread's when that was over */
  volatile sig_atomic_t works;  /* the stack is being looked at */
  double ns_per_tick;           /* of the stream's clock */
} tg_TickWork;

TG_INLINE tg_TickMoment tg_tickmoment_now (void) {
  return (tg_TickMoment){tg_clock_ticks(), tg_ticker_used_ns()};
}

/* Whether a tick comes before the program has run for as long as the last one
   took. A thread whose time is less than before is another thread: the time of
   earlier work is forgotten. */
TG_INLINE bool tg_tickwork_is_soon (const tg_TickWork *w, uint64_t used_ns) {
  return w->works || used_ns - w->rested_ns < w->worked_ns;
}

/* Outside of a handler, which may come meanwhile. The time is added to what the
   last tick took: it is a part of that. */
void tg_tickwork_begin (tg_TickWork *w);
void tg_tickwork_end (tg_TickWork *w, tg_TickMoment begun);

/* In a handler that began then: what the tick has taken by now, so many
   times. */
void tg_tickwork_note (tg_TickWork *w, tg_TickMoment begun, unsigned times);

#endif
