/*
** clockpast.h - what a reader's clock had taken out of the recording's, at the
** moments that it has come by.
**
** Markers tell of spans that are over by the recording's clock: a cycle of the
** collector, a timer whose beginning is not in the recording. To have them on
** the reader's clock (trueclock.h) one asks what had been taken out when they
** began:
**
**     out  |                 .-'      moments of the last events are kept, of
**          |             .-'          earlier ones fewer and fewer: between two
**          |  .-  -  - '              that are kept it has grown evenly
**          +------------------> ticks
**
** Plain C, one thread: the reader's, which owns it. Memory: 64 KiB once
** something has been kept.
*/
#ifndef TG_CLOCKPAST_H
#define TG_CLOCKPAST_H

#include "base/base.h"

#define TG_CLOCKPAST_MOST 4096u

typedef struct tg_ClockMoment {
  uint64_t ticks;         /* as recorded */
  uint64_t out;           /* of these */
} tg_ClockMoment;

/* Zeroed memory is empty. */
typedef struct tg_ClockPast {
  tg_ClockMoment *list;   /* owns; TG_CLOCKPAST_MOST, in order of both */
  uint32_t count;
} tg_ClockPast;

void tg_clockpast_free (tg_ClockPast *c);

/* An event, later than all before it. False without memory. */
bool tg_clockpast_add (tg_ClockPast *c, uint64_t ticks, uint64_t out);

/* What was out at a moment; before the first event, what was out at that
   event. */
uint64_t tg_clockpast_at (const tg_ClockPast *c, uint64_t ticks);

#endif
