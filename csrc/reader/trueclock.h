/*
** trueclock.h - a clock that stands still while tracing works.
**
** A reader's time is that of the program without what tracing has cost it. The
** gap between two events has one cost in it, that of the first (costs.h):
**
**     events       e1          e2        e3            e4
**     recorded     |-----------|---------|-------------|----->
**     costs        |~~~~~|     |~~~~~~~~~~~~|   |~~~|   (of e1, e2, e3)
**     true         |     |-----|            |---|   |--|
**
** What a gap cannot bear is *owed*, and taken from the next one: the costs are
** means, so one gap is as often too short for its cost as the next is too
** long. And costs change, with the machine's speed and with what else is in the
** processor's caches: gauges show by how much the hook's work takes longer now,
** or shorter, than where the costs were measured. The mean of the last ones
** scales all costs that follow.
**
** All events go through one clock, those of all coroutines and whatever
** a filter hides. It never goes back, so nesting, sums and order are what they
** are in the recording, whoever reads: a report, an export, the profiler
** service.
**
** Plain C, one thread: the reader's, which owns it.
*/
#ifndef TG_TRUECLOCK_H
#define TG_TRUECLOCK_H

#include "base/base.h"
#include "stream/costs.h"

typedef struct tg_TrueClock {
  const tg_Costs *costs;  /* borrows; NULL: it is the recording's clock */
  uint64_t least;         /* ticks that a gap keeps, if it is that long */
  uint64_t spent;         /* ticks that tracing has taken, up to now */
  uint64_t owed;          /* ticks to be taken out of gaps to come */
  uint64_t sampled;       /* 'spent' at the sample before */
  uint64_t work;          /* usual ticks of a gauge here; 0: not known */
  uint32_t scale;         /* costs now per cost measured, in 65536ths */
  uint32_t gauges;        /* how many gauges 'scale' rests on */
} tg_TrueClock;

/* The most that is owed, in costs of the last event: more is no chance any
   more, but comes of costs that were measured too high. */
#define TG_TRUECLOCK_OWED 4u

#define TG_TRUECLOCK_SAME 65536u    /* of 'scale': as they were measured */

/* The number of gauges in the mean, at most. A single gauge tells little: it
   has what the machine did just then. */
#define TG_TRUECLOCK_GAUGES 64u

/* No gauge counts as more than this many times the expected work: time in which
   the hook is interrupted is not its work. */
#define TG_TRUECLOCK_MOST 4u

/* The most ticks that a nanosecond has: no clock is faster. */
#define TG_TRUECLOCK_LEAST 16u

/* Starts a clock whose ticks are so long. Two moments that differ in the
   recording differ by a nanosecond at least: viewers do not show a call without
   any length. */
TG_INLINE void tg_trueclock_start (tg_TrueClock *c, const tg_Costs *costs,
                                   double ns_per_tick) {
  *c = (tg_TrueClock){.costs = costs, .least = 1,
                      .scale = TG_TRUECLOCK_SAME};
  while (c->least < TG_TRUECLOCK_LEAST && (double)c->least * ns_per_tick < 1)
    c->least++;
}

/* So many ticks have passed since the event before. */
TG_INLINE void tg_trueclock_pass (tg_TrueClock *c, uint64_t gap) {
  uint64_t most = gap > c->least ? gap - c->least : 0;
  uint64_t share = most < c->owed ? most : c->owed;
  c->spent += share;
  c->owed -= share;
}

/* So many ticks have passed that were all tracing's (OVERHEAD in event.h). */
TG_INLINE void tg_trueclock_overhead (tg_TrueClock *c, uint64_t ticks) {
  c->spent += ticks;
}

/* The hook has worked on the last event for so long: none of that was the
   program's time. */
void tg_trueclock_gauge (tg_TrueClock *c, uint64_t gap);

/* An event of that price is there; after tg_trueclock_pass. */
TG_INLINE void tg_trueclock_event (tg_TrueClock *c, tg_Price price) {
  uint64_t cost = (uint64_t)price.ticks * c->scale / TG_TRUECLOCK_SAME;
  uint64_t most = TG_TRUECLOCK_OWED * cost;
  c->work = price.work;
  c->owed += cost;
  if (cost > 0 && c->owed > most)
    c->owed = most;
}

#endif
