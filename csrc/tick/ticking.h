/*
** ticking.h - how well ticks have come, in figures and in words: for whoever
** reads samples, since a profile does not show what it lacks.
**
** Written on the thread that ticks, in its handler too, and read on any: each
** figure is one word. A recording has the five figures in its header, so they
** are there too if the program was killed.
*/
#ifndef TG_TICKING_H
#define TG_TICKING_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/buf.h"

typedef struct tg_Ticking {
  _Atomic uint64_t period_ns;   /* that was asked for; 0: there are no ticks */
  _Atomic uint64_t timer_ns;    /* a timer ticks, every so often at most; 0: an
                                   event of the kernel, as it should be */
  _Atomic uint64_t seen;        /* ticks that came in time */
  _Atomic uint64_t blocked;     /* while the thread had signals blocked */
  _Atomic uint64_t waiting;     /* the last ones, left to a hook that has not
                                   come yet */
} tg_Ticking;

#define TG_TICKING_FIGURES 5
#define TG_TICKING_AT_BLOCKED 3         /* which of them that is */

/* As numbers, in this order, and back. */
void tg_ticking_get (const tg_Ticking *t, uint64_t to[TG_TICKING_FIGURES]);
void tg_ticking_set (tg_Ticking *t, const uint64_t from[TG_TICKING_FIGURES]);

/* What is worth telling, each as half a sentence that follows upon a name and a
   colon. */
typedef enum tg_TickingNote {
  TG_TICKING_TIMER,
  TG_TICKING_BLOCKED,
  TG_TICKING_WAITING,
  TG_TICKING_NOTES
} tg_TickingNote;

/* False: there is nothing to tell of that, and nothing is added. */
bool tg_ticking_tell (const tg_Ticking *t, tg_TickingNote which, tg_Buf *out);

#endif
