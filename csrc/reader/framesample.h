/*
** framesample.h - samples become frames that open and close, in one tree with
** those that calls tell of.
**
** A frame that samples show is open from the first of them to the last. What
** is between two samples belongs to the second: a tick comes when the time is
** over for which it stands. So frames open, and those that are gone close,
** where the event before was; unless the program slept there, or others had
** the processor, which the processor time tells: then no such frame is open
** meanwhile. What is less than a tick's own time adds up until it is as much:
** so lines of time are not full of holes, and the sum is right all the same.
**
** Where calls are traced too, the frames that a CALL tells of have their own
** bounds, and are never opened by a sample. Only what is above the innermost
** of them can change: below it, the frames that were seen are there as long as
** it is. Such a call closes the seen frames that are not its caller.
**
** Where they are not, or are another trace's, each sample tells the whole
** chain of coroutines as well.
**
** Whoever asks for ticks is told when each sample was taken, once its frames
** are open: exports that have real samples, and lines.
*/
#ifndef TG_FRAMESAMPLE_H
#define TG_FRAMESAMPLE_H

#include "reader/framer.h"

/* The event, a SAMPLE, becomes the framer's job. */
void tg_framesample_begin (tg_Framer *fr, const tg_Event *e);

/* An event has been applied: the time between two samples ends with it. */
void tg_framesample_note (tg_Framer *fr);

/* A turn of that job, as the framer's own. */
bool tg_framesample_turn (tg_Framer *fr, tg_Packet *out);

/* Whether a sample would show a function of which no frame is open. */
bool tg_framesample_shows (tg_Framer *fr, tg_FunctionId function);

bool tg_framesample_copy (tg_FrameSample *to, const tg_FrameSample *from);
void tg_framesample_free (tg_FrameSample *m);

#endif
