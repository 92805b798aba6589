/*
** eventtime.h - when a reader's events were, in its own time.
**
** Events have ticks, as they were recorded. A reader's time is what is left of
** them without the time in which the program waited for a reader, and without
** what tracing has cost, if that is to be taken out (trueclock.h):
**
**     event ─> at ─> moment ─> cost ─> pass        of each event, in that order
**
** 'at' says when the event was. If it is too late for whoever reads, that is
** all, and the time is what it was before (a copy). 'cost' takes note of what
** the event costs, and 'pass' goes on to it.
**
** Plain C, one thread: the reader's, which owns it. All in its loop.
*/
#ifndef TG_EVENTTIME_H
#define TG_EVENTTIME_H

#include "base/clock.h"
#include "reader/trueclock.h"

typedef struct tg_EventTime {
  tg_Clock clock;       /* the stream's, perhaps with a time 0 of its own */
  uint64_t ticks;       /* of the last event */
  uint64_t untraced_ns; /* in which calls were not seen */
  uint64_t waited;      /* ticks in which the program waited for a reader */
  tg_TrueClock true_clock;
  bool weighs;          /* what tracing has taken stays in all times */
  uint64_t spent_ns;    /* raw time less the true one, at the last event */
} tg_EventTime;

typedef struct tg_Moment {
  uint64_t ticks;       /* as recorded */
  uint64_t waited;      /* up to it */
  uint64_t out;         /* ticks that 'now_ns' is without */
  uint64_t now_ns;
} tg_Moment;

/* Whether anything is taken out of times. */
TG_INLINE bool tg_eventtime_corrects (const tg_EventTime *t) {
  return t->true_clock.costs != NULL;
}

/* Ticks at an event; time never goes back, nor beyond what can be counted: the
   sum may wrap round in a damaged file, and is then no later. */
TG_INLINE uint64_t tg_eventtime_ticks (const tg_EventTime *t,
                                       const tg_Event *e) {
  uint64_t ticks = e->ticks;
  if (tg_event_is_usual(e) || !tg_event_absolute(e))
    ticks += t->ticks;
  return ticks > t->ticks ? ticks : t->ticks;
}

/* What the program has waited up to an event at 'ticks'. A wait is over when it
   is told of, and began after the event before: a damaged file may say
   otherwise. */
TG_INLINE uint64_t tg_eventtime_waited (const tg_EventTime *t,
                                        const tg_Event *e, uint64_t ticks) {
  uint64_t most = ticks - t->ticks;
  if (tg_likely(e->kind != TG_EV_WAIT))
    return t->waited;
  return t->waited + (e->waited < most ? e->waited : most);
}

/* What of the gap before it an event says was tracing's own. A damaged file may
   say more than there is. */
TG_INLINE uint64_t tg_eventtime_overhead (const tg_Event *e, uint64_t gap) {
  uint64_t overhead = e->kind == TG_EV_TIME ? e->waited : 0;
  return overhead < gap ? overhead : gap;
}

/* Brings the program's clock to an event after so long a gap. */
TG_INLINE void tg_eventtime_gap (tg_TrueClock *c, const tg_Event *e,
                                 uint64_t gap) {
  if (tg_event_is_usual(e)) {
    tg_trueclock_pass(c, gap);
    return;
  }
  if (tg_event_gauges(e)) {
    tg_trueclock_gauge(c, gap);
    return;
  }
  uint64_t overhead = tg_eventtime_overhead(e, gap);
  tg_trueclock_overhead(c, overhead);
  tg_trueclock_pass(c, gap - overhead);
}

/* The rest of a moment whose ticks are known. */
TG_INLINE void tg_eventtime_set (const tg_EventTime *t, tg_Moment *m) {
  m->out = m->waited + (t->weighs ? 0 : t->true_clock.spent);
  m->now_ns = tg_clock_ns(&t->clock, m->ticks - m->out);
}

/* When the event is. What it says of a window is the recorded length here: that
   may be corrected later (timers.h). */
TG_INLINE tg_Moment tg_eventtime_at (tg_EventTime *t, const tg_Event *e) {
  tg_Moment m;
  m.ticks = tg_eventtime_ticks(t, e);
  m.waited = tg_eventtime_waited(t, e, m.ticks);
  uint64_t gap = (t->ticks > 0 ? m.ticks - t->ticks : 0)
                 - (m.waited - t->waited);
  if (tg_eventtime_corrects(t))
    tg_eventtime_gap(&t->true_clock, e, gap);
  tg_eventtime_set(t, &m);
  t->untraced_ns += tg_event_untraced(e);
  return m;
}

/* The same of a call or return, so long after the event before. */
TG_INLINE tg_Moment tg_eventtime_after (tg_EventTime *t, uint32_t ticks) {
  tg_Moment m = {.ticks = t->ticks + ticks, .waited = t->waited};
  if (tg_unlikely(m.ticks < t->ticks))
    m.ticks = t->ticks;
  if (tg_eventtime_corrects(t))
    tg_trueclock_pass(&t->true_clock, t->ticks > 0 ? m.ticks - t->ticks : 0);
  tg_eventtime_set(t, &m);
  return m;
}

/* So many ticks, as long as they take. */
TG_INLINE uint64_t tg_eventtime_length (const tg_EventTime *t,
                                        uint64_t ticks) {
  return (uint64_t)((double)ticks * t->clock.ns_per_tick);
}

/* A sample stands for processor time since the one before: for that of the
   program's. Where ticks are told apart it is so already. */
TG_INLINE void tg_eventtime_sample (tg_EventTime *t, tg_Event *e) {
  tg_TrueClock *c = &t->true_clock;
  uint64_t taken = tg_eventtime_length(t, c->spent - c->sampled);
  c->sampled = c->spent;
  if ((e->flags & TG_EVF_APART) == 0)
    e->used_ns -= taken < e->used_ns ? taken : e->used_ns;
}

/* What the event at that moment costs, where anything is taken out. */
TG_INLINE void tg_eventtime_cost (tg_EventTime *t, tg_Price price,
                                  const tg_Moment *m) {
  t->spent_ns = tg_clock_ns(&t->clock, m->ticks - m->waited) - m->now_ns;
  tg_trueclock_event(&t->true_clock, price);
}

/* What ticks meet too much in a call, in nanoseconds. */
TG_INLINE double tg_eventtime_leaning (const tg_EventTime *t) {
  if (!tg_eventtime_corrects(t))
    return 0;
  return (double)t->true_clock.costs->ticks[TG_COST_LEANING]
         * t->clock.ns_per_tick;
}

/* The event is the last one from now on. */
TG_INLINE void tg_eventtime_pass (tg_EventTime *t, const tg_Moment *m) {
  tg_assert(m->ticks >= t->ticks);
  t->ticks = m->ticks;
  t->waited = m->waited;
}

/* A recorded time after the last event, which was at 'last_ns', in the reader's
   time. What is owed still is of the time after that event. */
TG_INLINE uint64_t tg_eventtime_until (const tg_EventTime *t, uint64_t last_ns,
                                       uint64_t ns) {
  const tg_TrueClock *c = &t->true_clock;
  uint64_t out_ns = tg_eventtime_length(t, t->waited
                                           + (t->weighs ? 0 : c->spent));
  uint64_t owed_ns = tg_eventtime_length(t, t->weighs ? 0 : c->owed);
  if (ns < out_ns || ns - out_ns < last_ns)
    return last_ns;
  ns -= out_ns;
  return ns - last_ns > owed_ns ? ns - owed_ns : last_ns;
}

#endif
