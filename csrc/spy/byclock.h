/*
** byclock.h - samples of all states by the clock, each split by what the kernel
** counts for its thread. Private to the files of spy.
*/
#ifndef TG_SPY_BYCLOCK_H
#define TG_SPY_BYCLOCK_H

#include "spy/spy.h"

/* Waits until it is time, at most until 'until', and takes samples of all
   states. */
void tg_spy_by_clock (tg_Spy *y, uint64_t until);

#endif
