/*
** sampling.h - one sample of one state: looked at until it holds together, and
** its stack put where the stream's next samples take it from. Private to the
** files of spy.
*/
#ifndef TG_SPY_SAMPLING_H
#define TG_SPY_SAMPLING_H

#include "spy/spy.h"

/*
** What the state with that number runs becomes what is written next. 'tick' is
** of its thread, NULL if none has come, and 'tid' that thread, or 0. False:
** there is nothing to be written: the look was given up, and is counted.
*/
bool tg_spy_sample (tg_Spy *y, uint32_t state, int tid,
                    const tg_SpyTick *tick);

#endif
