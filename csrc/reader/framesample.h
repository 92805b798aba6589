/*
** framesample.h - samples become frames that open and close, in one tree with
** those that calls tell of.
**
** A frame that samples show is open from the first of them to the last. What is
** between two samples belongs to the second: a tick comes when the time is over
** for which it stands. So frames open, and those that are gone close, where the
** event before was; unless the program slept there, which the processor time
** tells: then no such frame is open meanwhile.
**
** Where calls are traced too, the frames that a CALL tells of have their own
** bounds, and are never opened by a sample. Only what is above the innermost of
** them can change: below it, the frames that were seen are there as long as it
** is. Such a call closes the seen frames that are not its caller.
**
** Where they are not, or are another trace's, each sample tells the whole chain
** of coroutines as well.
**
** Whoever asks for ticks is told when each sample was taken, once its frames
** are open: exports that have real samples, and lines.
*/
#ifndef TG_FRAMESAMPLE_H
#define TG_FRAMESAMPLE_H

#include "reader/framer.h"

/* Whether the program waited for the most part of a time in which it used so
   much of the processor: then what a sample shows began only that long ago. */
TG_INLINE bool tg_framesample_slept (uint64_t passed_ns, uint64_t used_ns) {
  return passed_ns > used_ns && passed_ns - used_ns > used_ns;
}

/* The event, a SAMPLE, becomes the framer's job. */
void tg_framesample_begin (tg_Framer *fr, const tg_Event *e);

/* An event has been applied: the time between two samples ends with it. */
void tg_framesample_note (tg_Framer *fr);

/* A turn of that job, as the framer's own. */
bool tg_framesample_turn (tg_Framer *fr, tg_Packet *out);

bool tg_framesample_copy (tg_FrameSample *to, const tg_FrameSample *from);
void tg_framesample_free (tg_FrameSample *m);

#endif
