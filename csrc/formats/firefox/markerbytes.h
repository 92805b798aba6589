/*
** markerbytes.h - a call that has ended, as a few bytes: put aside until it is
** known which calls are long enough to become markers.
**
** Behind the bytes stand the call's values, arguments before results. Times are
** differences from the end of the one before on the same track, so they are
** read in the order in which they were written.
*/
#ifndef TG_MARKERBYTES_H
#define TG_MARKERBYTES_H

#include "reader/reader.h"

/*
** Where a marker begins or ends. What falls together, calls that are entered
** again when a coroutine goes on, say, is told apart by thousandths of a
** nanosecond: viewers take the marker that begins first for the outer one.
*/
typedef struct tg_Moment {
  uint64_t ns;
  uint32_t part;              /* 0 to 999 */
} tg_Moment;

#define TG_ABSENT UINT32_MAX

typedef struct tg_CallMark {
  tg_Moment from, to;
  uint32_t rank;              /* among the longest */
  tg_FunctionId function;
  uint32_t arguments;         /* bytes; TG_ABSENT: they are not known */
  uint32_t results;           /* the same, of what 'why' says */
  tg_Why why;
  bool tail, resumed, unfinished;
} tg_CallMark;

#define TG_CALLMARK_MAX 64u   /* bytes */

/* Writes to 'p', which has so much room; 'before_ns': when the one before
   ended, 0 for the first. Returns where it ends. */
uint8_t *tg_markerbytes_put (uint8_t *p, const tg_CallMark *m,
                             uint64_t before_ns);

/* Reads what tg_markerbytes_put has written; returns where its values begin. */
const uint8_t *tg_markerbytes_get (const uint8_t *p, tg_CallMark *m,
                                   uint64_t before_ns);

#endif
