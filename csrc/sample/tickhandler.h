/*
** tickhandler.h - a tick: the sample at once, or a hook asked for it.
**
** Called in a signal handler on the thread that runs the state, wherever that
** is: nothing is allocated, and Lua's memory is read through glance.h alone. A
** tick that cannot be served so is left to the next hook (sampler.h); one that
** comes too soon after work that took long is dropped, and counted.
*/
#ifndef TG_TICKHANDLER_H
#define TG_TICKHANDLER_H

#include "tick/ticker.h"

/* For a ticker; 'sampler' is its tg_Sampler. */
void tg_tickhandler_tick (void *sampler, tg_Ticker *ticker,
                          const void *context);

#endif
