/*
** byevents.h - samples when the kernel's events tick in the process's threads.
** Private to the files of spy.
*/
#ifndef TG_SPY_BYEVENTS_H
#define TG_SPY_BYEVENTS_H

#include "spy/spy.h"

/* Waits for ticks, so long at most, and takes samples for those that come. */
void tg_spy_by_events (tg_Spy *y, uint64_t ns);

#endif
