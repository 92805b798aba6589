/*
** events.h - trace events on their way into a document: what all of them
** begin with, their times, the names of tracks.
**
** Times are microseconds since the trace began, plus one: viewers take 0 for
** none.
**
** Plain C, one thread. Fails as the export's output does.
*/
#ifndef TG_CHROMEEVENTS_H
#define TG_CHROMEEVENTS_H

#include "export/export.h"
#include "export/jsontext.h"

#define TG_CHROME_START_NS UINT64_C(1000)   /* time 0 of the trace */

/* The tracks that are no coroutine's. DevTools has a track's number behind its
   name, so these are short: beyond those of coroutines, of which a thousand
   have a track of their own. */
enum {
  TG_CHROME_OTHERS = 1001,      /* coroutines that share a track */
  TG_CHROME_SAMPLES,
  TG_CHROME_TIMERS,             /* the first of TG_CHROME_LANES */
  TG_CHROME_TRACKS = 1100       /* none from here on */
};

/* The number of a coroutine's track: the protocol's, as in the log, so that a
   person finds one in both; moved on where those above are. */
TG_INLINE uint32_t tg_chromeevents_tid (tg_ThreadId thread) {
  return thread < TG_CHROME_OTHERS
         ? thread : thread + (TG_CHROME_TRACKS - TG_CHROME_OTHERS);
}

typedef struct tg_ChromeEvents {
  tg_Export *x;               /* borrows */
  tg_Buf *out;                /* borrows; of x->out */
  uint32_t pid;
  bool any;                   /* an event has been written */
  uint64_t arrows;            /* so far: each has a number */
} tg_ChromeEvents;

/* All of an event but what is particular to it: "ph", "pid" and "tid". */
void tg_chromeevents_begin (tg_ChromeEvents *e, const char *type, uint32_t tid);

/* Arrows, which Perfetto draws, from one event to another: each end belongs to
   the innermost event that is open there. Of events that begin at the very
   moment, those written before the arrow's end count: so the first end is
   written before events that begin there, the second after the event that it
   leads to. */
void tg_chromeevents_from (tg_ChromeEvents *e, uint32_t tid, uint64_t ns);
void tg_chromeevents_to (tg_ChromeEvents *e, uint32_t tid, uint64_t ns);

/* The name of a track ("thread_name"), or of what they all belong to
   ("process_name"). */
void tg_chromeevents_name (tg_ChromeEvents *e, const char *what, uint32_t tid,
                           const tg_Buf *name);

/* The place of a track among others: Perfetto sorts by it. */
void tg_chromeevents_sort (tg_ChromeEvents *e, uint32_t tid, uint32_t place);

/* 'key', with all that is before the number, and nanoseconds. */
TG_INLINE void tg_chromeevents_time (tg_ChromeEvents *e, const char *key,
                                     uint64_t ns) {
  tg_buf_addstr(e->out, key);
  tg_jsontext_time(e->out, ns, 1000);
}

/* A packet's time in the document. */
TG_INLINE uint64_t tg_chromeevents_ns (const tg_ChromeEvents *e,
                                       uint64_t time_ns) {
  tg_assert(time_ns >= e->x->start_ns);
  return TG_CHROME_START_NS + time_ns - e->x->start_ns;
}

#endif
