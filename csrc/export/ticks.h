/*
** ticks.h - the moments at which samples were taken, for formats that have
** samples of their own.
**
** A tick comes after the packets of the frames that its sample opens and
** closes: what is open then ran up to it, from the tick before or, if the
** program slept meanwhile, from when it ran again. So a document has a tick's
** stack where its time begins, as viewers want it: there a sample lasts until
** the next one.
**
** A recording of samples alone is nothing but ticks: formats write those, and
** none of the spans between. One that has calls too is exact where a call
** begins and ends, so formats that know spans keep to them.
**
** Plain C, one thread.
*/
#ifndef TG_TICKS_H
#define TG_TICKS_H

#include "export/export.h"

/* Ticks are given too, between the packets of frames. Before the first packet
   is asked for. */
void tg_ticks_ask (tg_Export *x);

/* Whether the recording has any... */
TG_INLINE bool tg_ticks_any (const tg_Export *x) {
  return x->selection->sample > 0;
}

/* ...and nothing else. */
TG_INLINE bool tg_ticks_only (const tg_Export *x) {
  return tg_ticks_any(x) && !x->selection->with_calls;
}

/* How many were read so far; none if the filters leave no frame. */
TG_INLINE uint64_t tg_ticks_taken (const tg_Export *x) {
  return x->sampled + x->calls > 0 ? tg_reader_samples(x->minduration->reader)
                                   : 0;
}

/* Nanoseconds from one to the next, if none is late: as was asked for. */
uint64_t tg_ticks_period (const tg_Export *x);

/* How many a tick counts as that stands for so much time: those that were late
   or missed are counted with the one that came. */
uint64_t tg_ticks_count (const tg_Export *x, uint64_t ns);

/* How many calls there may be at most if the user does not say so; 0 = any:
   without boxes it does not matter, and a sample that lost its innermost frame
   would be another one's. */
uint64_t tg_ticks_limit (const tg_Export *x, const tg_Format *format);

/* When the time begins that a tick stands for: 'before_ns' is that of the one
   before, or of the first frame. */
uint64_t tg_ticks_begin (const tg_Packet *tick, uint64_t before_ns);

#endif
