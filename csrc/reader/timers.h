/*
** timers.h - when the console's timers that run have begun.
**
** The marker with which a timer ends tells how long it ran as the program's
** clock had it, with all that tracing cost meanwhile, and with all waits for a
** reader. A reader's clock has neither (trueclock.h): drawn by it the timer
** would begin before it had begun. So the moment of its first marker is kept
** until its last one comes.
**
** A timer is known by the ticks at which it began, not by its label: labels
** may have been cut short when they were recorded.
**
** Plain C, one thread: the reader's, which owns it. Memory: 16 bytes for each
** timer that runs.
*/
#ifndef TG_TIMERS_H
#define TG_TIMERS_H

#include "base/clock.h"
#include "reader/clockpast.h"
#include "stream/eventreader.h"

typedef struct tg_TimerStart {
  uint64_t ticks;       /* as recorded */
  uint64_t ns;          /* by the reader's clock */
} tg_TimerStart;

/* Zeroed memory is empty. */
typedef struct tg_Timers {
  tg_TimerStart *list;  /* owns; in order of ticks */
  uint32_t count, capacity;
} tg_Timers;

void tg_timers_free (tg_Timers *t);

/* One begins, none earlier than the one before. False without memory. */
bool tg_timers_begin (tg_Timers *t, uint64_t ticks, uint64_t ns);

/* The one that began then, give or take 'off' ticks; NULL: none that is known.
   Good until the next call. */
const tg_TimerStart *tg_timers_find (const tg_Timers *t, uint64_t ticks,
                                     uint64_t off);

/* It has ended; 'start' is what was found. */
void tg_timers_end (tg_Timers *t, const tg_TimerStart *start);

/* What a marker, at 'ticks', says of a span that is over, a timer or a cycle of
   the collector, is by the recording's clock: from here on it is by the
   reader's, which has 'now_ns'. A timer that is not known, and a cycle, have
   begun where 'past' says. */
void tg_timers_correct (tg_Timers *t, const tg_ClockPast *past,
                        const tg_Clock *clock, tg_Event *e, uint64_t ticks,
                        uint64_t now_ns);

#endif
