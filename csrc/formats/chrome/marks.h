/*
** marks.h - what trace events there are beside calls: the program's
** markers, and remarks about what is missing.
**
** A moment is an instant event ("I") on its coroutine's track. A timer is a box
** on a track of the timers': what overlaps without being nested is dropped by
** viewers where it is on one track, so there are several; asynchronous events
** ("b", "e") DevTools does not show. Nor does it show counters ("C"), as which
** the size of the heap is there: Perfetto does.
**
** Plain C, one thread. Fails as the export's output does.
*/
#ifndef TG_CHROMEMARKS_H
#define TG_CHROMEMARKS_H

#include "formats/chrome/events.h"
#include "formats/chrome/values.h"

#define TG_CHROME_LANES 16u

typedef struct tg_ChromeMarks {
  tg_ChromeEvents *events;    /* borrows; the document's, as the next */
  tg_ChromeValues *values;
  tg_Buf name;                /* owns */
  uint64_t lanes[TG_CHROME_LANES];  /* when the last timer of each ended; 0:
                                       there was none */
  bool failed;                /* sticky: there was no memory */
} tg_ChromeMarks;

void tg_chromemarks_free (tg_ChromeMarks *m);   /* zeroed memory is fine */

/* A moment on a track, at this time of the document; 'values' whether it is to
   have them. */
void tg_chromemarks_moment (tg_ChromeMarks *m, const tg_Packet *p,
                            uint32_t tid, uint64_t ns, bool values);

/* A timer that has ended. */
void tg_chromemarks_timer (tg_ChromeMarks *m, const tg_Packet *p, bool values);

/* How much Lua had allocated: a counter of the process. */
void tg_chromemarks_heap (tg_ChromeMarks *m, const tg_Packet *p);

/* The names of the timers' tracks, and their places: next to the first one. */
void tg_chromemarks_lanes (tg_ChromeMarks *m);

/* What is missing, where it is: a ring loses what came first, others what came
   last; values from 'bare_ns' on. */
void tg_chromemarks_missing (tg_ChromeMarks *m, uint32_t tid, uint64_t bare_ns);

#endif
