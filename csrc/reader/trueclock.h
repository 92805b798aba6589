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
  uint64_t least;         /* ticks that a gap keeps, if it has them */
  uint64_t spent;         /* ticks that tracing has taken, up to now */
  uint64_t owed;          /* and that it takes of those to come */
  uint64_t sampled;       /* what it had taken at the sample before */
  uint64_t work;          /* of the last event, if a gauge could show it */
  uint32_t scale;         /* what costs are now, of what they were measured */
  uint32_t gauges;        /* which have made it so, few or enough */
} tg_TrueClock;

/* What is owed at most, in gaps that each bear a mean cost: more is no chance
   any more, but costs that were measured too high. */
#define TG_TRUECLOCK_OWED 4u

#define TG_TRUECLOCK_SAME 65536u    /* of 'scale': as they were measured */

/* Of how many gauges the mean is, as new ones come. One tells little: it has
   what the machine did just then. */
#define TG_TRUECLOCK_GAUGES 64u

/* No gauge counts as more than so many of what was expected: what interrupts
   the hook is not its work. */
#define TG_TRUECLOCK_MOST 4u

/* Ticks of a nanosecond at most: no clock is faster. */
#define TG_TRUECLOCK_LEAST 16u

/* A clock whose ticks are so long. Two moments that differ in the recording
   differ by a nanosecond at least, or viewers would not show what is between
   them: a call that has no time at all is none to them. */
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

/* And so many that were tracing's altogether (OVERHEAD in event.h). */
TG_INLINE void tg_trueclock_overhead (tg_TrueClock *c, uint64_t ticks) {
  c->spent += ticks;
}

/* The hook has worked on the last event for so long: none of that was the
   program's time. */
void tg_trueclock_gauge (tg_TrueClock *c, uint64_t gap);

/* An event is there; after tg_trueclock_pass. */
void tg_trueclock_event (tg_TrueClock *c, const tg_Event *e,
                         const tg_Function *f);

#endif
