/*
** standstill.h - ticks of the clock for a thread that does not run: it waits,
** or others have the processor.
**
** No signal can tell what waits: a system call that it meets ends with EINTR,
** and many programs take that for an error. So a thread of ours looks at the
** clock, and at the processor time of the other one. Two readings of that which
** are equal, one right after the other, say that it does not run.
**
** The thread that is watched may run again at any moment: what is done in
** 'tick' must be right then, too.
*/
#ifndef TG_STANDSTILL_H
#define TG_STANDSTILL_H

#include "base/base.h"

typedef struct tg_Standstill tg_Standstill;

/*
** Watches the calling thread: 'hz' times per second, if it does not run,
** 'tick' is called, on a thread of the watch's. NULL with errno without such a
** thread, or memory.
*/
tg_Standstill *tg_standstill_open (uint32_t hz, void (*tick) (void *ud),
                                   void *ud);

/* No tick comes after this. On the thread that is watched, or where that does
   not exist any more; NULL is fine. */
void tg_standstill_close (tg_Standstill *w);

/* In a forked child, which does not have the watch's thread: nothing is watched
   until it goes on. On the thread that is to be watched then. */
void tg_standstill_forked (tg_Standstill *w);
void tg_standstill_continue (tg_Standstill *w);

#endif
