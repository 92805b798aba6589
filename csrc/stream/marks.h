/*
** marks.h - what a program says of itself into its traces: the methods of the
** console, by the names that browsers give them.
*/
#ifndef TG_MARKS_H
#define TG_MARKS_H

#include "base/base.h"

#define TG_MARKS(X) \
  X(TIMESTAMP, "timeStamp") \
  X(TIME, "time")                       /* a timer begins... */ \
  X(TIMEEND, "timeEnd")                 /* ...and ends */ \
  X(TIMELOG, "timeLog") \
  X(COUNT, "count") \
  X(COUNTRESET, "countReset") \
  X(LOG, "log") \
  X(INFO, "info") \
  X(WARN, "warn") \
  X(ERROR, "error") \
  X(DEBUG, "debug") \
  X(GROUP, "group") \
  X(GROUPCOLLAPSED, "groupCollapsed") \
  X(GROUPEND, "groupEnd") \
  X(TRACEPARENT, "traceparent")         /* whose spans follow */

typedef enum tg_MarkSort {
#define X(id, name) TG_MARK_##id,
  TG_MARKS(X)
#undef X
  TG_NMARKS,            /* a damaged file may say more than that */
  TG_MARK_HEAP = 0x80,  /* none of the program's: the size of its heap */
  TG_MARK_ALLOCATIONS = 0x81,   /* only of packets: an event of its own */
  TG_MARK_LOCALS = 0x81,        /* only of events: the locals of a frame. A
                                   reader that is older than these passes over
                                   a MARK of this sort */
  TG_MARK_COLLECTION = 0x82,    /* a cycle of the collector: how long it took,
                                   its kind, bytes before and after */
  TG_MARK_UNTRACED = 0x83,      /* so long, up to now, calls were not seen */
  TG_MARK_HELD = 0x84           /* only of packets, for who asks: allocations
                                   that the selection leaves out */
} tg_MarkSort;

/* The name of the method. */
const char *tg_mark_name (uint32_t sort);

/* Whether it is the program's, by a method of the console. */
TG_INLINE bool tg_mark_said (uint32_t sort) {
  return sort < TG_MARK_HEAP;
}

/* Whether it tells what is alive (profile/live.h). */
TG_INLINE bool tg_mark_holds (uint32_t sort) {
  return sort == TG_MARK_ALLOCATIONS || sort == TG_MARK_HELD;
}

/* Whether its first value is a label, of a timer or a counter. */
TG_INLINE bool tg_mark_labelled (uint32_t sort) {
  return sort >= TG_MARK_TIME && sort <= TG_MARK_COUNTRESET;
}

/* Whether it tells of a span of time that is over. */
TG_INLINE bool tg_mark_spans (uint32_t sort) {
  return sort == TG_MARK_TIMEEND || sort == TG_MARK_COLLECTION
         || sort == TG_MARK_UNTRACED;
}

#endif
