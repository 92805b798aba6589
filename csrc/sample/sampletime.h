/*
** sampletime.h - the time that a sample stands for, and by the clock the moment
** up to which it tells.
**
** On the thread that is sampled, also in its signal handler.
*/
#ifndef TG_SAMPLETIME_H
#define TG_SAMPLETIME_H

#include "base/clock.h"
#include "tick/delays.h"

typedef struct tg_SampleTime {
  double ns_per_tick;           /* of the stream's clock */
  bool by_clock;                /* waits are told, too */
  /* at the sample before */
  uint64_t used_ns;             /* processor time, or at a tick after it that
                                   was told apart... */
  uint64_t own_ns, hook_ns;     /* ...and time of such ticks since, of the
                                   program and of the hook... */
  uint64_t waits;               /* ...how often the thread had waited, if
                                   nothing tells of others... */
  uint64_t delayed_ns;          /* ...for how long others had had the processor,
                                   when that was asked for last... */
  uint64_t at;                  /* ...and ticks of the stream's clock */
  tg_Delays delays;             /* owns; for its owner to open */
  uint64_t still_ns;            /* processor time, since when a C function that
                                   does not return runs */
  /* at the last tick for which no sample was written, since the same C function
     ran: what the next one would have had */
  uint64_t held_ns, held_at;
  uint32_t held_ticks;
  /* by the clock */
  uint64_t told;                /* up to where samples tell what there was, in
                                   the stream's ticks, */
  double owed_ns;               /* and how long it has run for which no tick of
                                   the processor's has come yet... */
  double others_ns;             /* ...and others have, meanwhile */
} tg_SampleTime;

/* What a sample by the clock tells of. */
typedef enum tg_Finding {
  TG_FINDING_RUNNING,     /* by the processor's ticks */
  TG_FINDING_PREEMPTED,   /* by the same, after that: others had it */
  TG_FINDING_WAITING,     /* by the clock's */
  TG_FINDING_LAST         /* by no tick: the last one, with all time left */
} tg_Finding;

/*
** Everywhere 'now' is in ticks of the stream's clock, and 'used_ns' is the
** thread's processor time then (tg_ticker_used_ns), which is a system call.
*/

/* All that was before is nobody's. */
void tg_sampletime_begin (tg_SampleTime *t, uint64_t now, uint64_t used_ns);

/* How much of the time since the sample before others had the processor, though
   the thread could have run. Before tg_sampletime_used. */
uint64_t tg_sampletime_others (tg_SampleTime *t, uint64_t now,
                               uint64_t used_ns);

/* The processor time since the sample before, in nanoseconds: what a tick of it
   stands for. From here on time runs for the next one. */
uint64_t tg_sampletime_used (tg_SampleTime *t, uint64_t now, uint64_t used_ns);

/* At a tick that is told apart: the time since the last tick or sample was the
   hook's, or the program's. A sample of it may be long in coming, and ticks of
   the hook may come first. */
TG_INLINE void tg_sampletime_apart (tg_SampleTime *t, uint64_t used_ns,
                                    bool hook) {
  uint64_t ns = (used_ns > t->used_ns) ? used_ns - t->used_ns : 0;
  *(hook ? &t->hook_ns : &t->own_ns) += ns;
  t->used_ns = used_ns;
}

/* Whether a C function that does not return, and ran at the sample before if
   'same', can wait for its next sample, which has the time of all ticks: there
   is only so much room before its return. */
bool tg_sampletime_can_wait (tg_SampleTime *t, bool same, uint64_t used_ns);

/* The tick's sample waits: what it would have had is the C function's, however
   long the next one is in coming. */
void tg_sampletime_hold (tg_SampleTime *t, uint64_t now, uint64_t used_ns,
                         uint32_t ticks);

/* What was held, which is told now: from then on time runs for the next
   sample. */
uint64_t tg_sampletime_release (tg_SampleTime *t);

/*
** By the clock: the moment up to which the sample tells, 'last' at the least.
** In all time something either ran, which the processor's ticks find, or could
** not, which they tell of as well, or waited, which the clock's ticks find; no
** kind is given time of another. So a sample of a wait is dated back by the
** time run since, for which a tick is still to come; and a sample of a run is
** dated back by waits that were not seen, for which the next wait that is seen
** stands. The stream's time never goes back. Up to 't->told' all is told
** already.
*/
uint64_t tg_sampletime_until (tg_SampleTime *t, uint64_t now, uint64_t used_ns,
                              tg_Finding found, uint64_t last);

#endif
