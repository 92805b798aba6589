/*
** samples.h - the program's stack among trace events, as V8's profiler
** has it (v8profile.h): on a track of its own, for DevTools' bottom-up and call
** tree views.
**
** A "Profile" event comes first; "ProfileChunk" events bring nodes and samples
** as they come, so memory is that of the tree of stacks and of one chunk.
**
** There is one sample a microsecond at most, and times are whole microseconds:
** Perfetto cuts decimals off each difference, and would end far too early.
**
** Plain C, one thread.
*/
#ifndef TG_CHROMESAMPLES_H
#define TG_CHROMESAMPLES_H

#include "formats/chrome/events.h"
#include "formats/chrome/v8profile.h"

typedef struct tg_ChromeSamples {
  tg_ChromeEvents *events;    /* borrows; the document's */
  tg_V8Profile v8;            /* owns */
  tg_Buf samples, deltas, lines;    /* own; of the chunk to come */
  uint32_t nsamples;          /* in it */
  uint32_t nnodes;            /* of the tree, written so far */
  tg_V8Sample held;           /* not yet written */
  uint64_t at_us;             /* of the last one that was */
  bool failed;                /* sticky: there was no memory */
} tg_ChromeSamples;

/* False without memory; to be freed all the same. */
bool tg_chromesamples_init (tg_ChromeSamples *s, tg_ChromeEvents *events);
void tg_chromesamples_free (tg_ChromeSamples *s);   /* zeroed memory is fine */

/* When the trace's start is known, then each packet, then the end. */
void tg_chromesamples_begin (tg_ChromeSamples *s);
void tg_chromesamples_add (tg_ChromeSamples *s, const tg_Packet *p);
void tg_chromesamples_end (tg_ChromeSamples *s);

#endif
