/*
** geckosamples.h - the samples of a track, taken at a fixed interval.
**
** In the format of Firefox itself a sample has no weight: it stands for the
** time until the next one. So they are taken every so many nanoseconds, and the
** viewer's sums are proportional to time; calls shorter than the interval may
** be missing in them.
**
**     spans     | a     |b|c    |     pause     | a
**     samples   a   a   b   c   -           -   a
**
** Of a recording of samples alone they are those: one for each tick, where its
** time begins, and one more for each that was missed before it came.
**
** Beside calls ticks say what a stack weighs (stackweights.h), which is known
** only when all is read. So spans are put aside, and sampled at the end, by a
** clock that runs in each as fast as it weighs: sums are proportional to
** weights, and each sample is within its span.
**
**     spans     | a   |b |c             |     pause     | a
**     weights      1   4       0                           1
**     samples   a      bbbb             -           -   a
**
** Plain C, one thread. Memory: the spool's.
*/
#ifndef TG_GECKOSAMPLES_H
#define TG_GECKOSAMPLES_H

#include "formats/firefox/tracks.h"

typedef struct tg_GeckoSamples {
  uint64_t interval_ns;
  bool ticks;                 /* spans are those of ticks */
  uint32_t taken;             /* so far, of all tracks */
} tg_GeckoSamples;

/* With an interval by how long the trace is. */
tg_GeckoSamples tg_geckosamples_of (const tg_Export *x);

/* For a tg_Tracks whose 'writer' is a tg_GeckoSamples: its 'span'. */
void tg_geckosamples_span (tg_Tracks *t, tg_Track *track, uint64_t from_ns,
                           uint64_t to_ns, uint32_t stack);

/* When all packets have been read: the rows of spans that were put aside, and a
   last one, since there is nothing any more. False if the spool fails. */
bool tg_geckosamples_finish (tg_Tracks *t, tg_Track *track);

#endif
