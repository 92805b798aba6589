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
  uint64_t worked_ns;           /* processor time that the program is owed, */
  uint64_t rested_ns;           /* and the thread's when we let go of it */
  volatile sig_atomic_t works;  /* the stack is being looked at */
  double ns_per_tick;           /* of the stream's clock */
} tg_TickWork;

TG_INLINE tg_TickMoment tg_tickmoment_now (void) {
  return (tg_TickMoment){tg_clock_ticks(), tg_ticker_used_ns()};
}

/* For how long the program must still run, to have run for as long as we have
   worked. A thread whose time is less than before is another thread: the time
   of earlier work is forgotten. */
TG_INLINE uint64_t tg_tickwork_owes (const tg_TickWork *w, uint64_t used_ns) {
  uint64_t ran = used_ns - w->rested_ns;
  return (ran < w->worked_ns) ? w->worked_ns - ran : 0;
}

/* Whether a tick comes before that. */
TG_INLINE bool tg_tickwork_is_soon (const tg_TickWork *w, uint64_t used_ns) {
  return w->works || tg_tickwork_owes(w, used_ns) > 0;
}

/* Outside of a handler, which may come meanwhile. Hooks come without ticks,
   too, where waits are seen: what the program has run since the one before is
   not owed to it any more. */
void tg_tickwork_begin (tg_TickWork *w);
void tg_tickwork_end (tg_TickWork *w, tg_TickMoment begun);

/* In a handler that began then: what the tick has taken by now, so many
   times. */
void tg_tickwork_note (tg_TickWork *w, tg_TickMoment begun, unsigned times);

#endif
