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

/* A timer begins, not earlier than any in the list. False without memory. */
bool tg_timers_begin (tg_Timers *t, uint64_t ticks, uint64_t ns);

/* The timer that began at 'ticks', give or take 'off'; NULL: it is not known.
   Good until the next call. */
const tg_TimerStart *tg_timers_find (const tg_Timers *t, uint64_t ticks,
                                     uint64_t off);

/* The timer that was found as 'start' has ended. */
void tg_timers_end (tg_Timers *t, const tg_TimerStart *start);

/* The marker 'e', at 'ticks', tells of a span that is over, a timer or a cycle
   of the collector, by the recording's clock. Makes that the reader's clock,
   which has 'now_ns'. The beginning of a timer that is not known, or of a
   cycle, is looked up in 'past'. */
void tg_timers_correct (tg_Timers *t, const tg_ClockPast *past,
                        const tg_Clock *clock, tg_Event *e, uint64_t ticks,
                        uint64_t now_ns);

#endif
