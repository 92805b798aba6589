/*
** samplewriter.h - samples into the stream: each with what it has in common
** with the one before, and the time that it stands for.
**
** On the thread that runs the state, also in a tick's handler, if there is
** room (tg_samplewriter_has_room): then nothing is allocated.
*/
#ifndef TG_SAMPLEWRITER_H
#define TG_SAMPLEWRITER_H

#include "sample/sampletime.h"
#include "sample/stackwalk.h"
#include "sample/tickwork.h"

typedef struct tg_SampleWriter {
  tg_Session *session;          /* borrows */
  tg_SampleTime time;
  tg_StackWalk now, before;     /* the sample that is made, and the last one */
  uint32_t epoch;               /* the stream writer's at that */
  uint32_t preempted;           /* a definition: what is above a stack while
                                   others have the processor; 0: none */
} tg_SampleWriter;

/* What there is to be told. */
typedef struct tg_TicksCome {
  uint32_t ticks;               /* of the processor's time... */
  uint32_t waits;               /* ...and by the clock, if 'by_clock' */
  bool by_clock;
  bool apart;                   /* the hook's ticks are not among them */
  bool untraced;                /* they came in a window */
} tg_TicksCome;

/* What runs, 'now', becomes a sample, or three, by the clock: the program has
   waited, then ran, and then others had the processor. */
void tg_samplewriter_put (tg_SampleWriter *w, tg_TickMoment now,
                          tg_TicksCome come);

/* Whether what runs is what the last sample has shown. */
bool tg_samplewriter_is_same (const tg_SampleWriter *w);

/* Whether there is room for all samples of what runs without a new chunk, and
   so many RETURNs before them. */
bool tg_samplewriter_has_room (const tg_SampleWriter *w, size_t returns,
                               uint64_t now);

/* Room for so many entries. False without memory. */
bool tg_samplewriter_reserve (tg_SampleWriter *w, uint32_t entries);

#endif
