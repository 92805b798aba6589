/*
** calibration.h - what tracing costs, measured when it begins.
**
** Little programs of calls that do nothing are run in a Lua state of their own,
** without a trace and with one. The difference in time is the cost of the hook,
** here and now: the cost depends on the machine, and on its other work. The
** measurement takes some ten milliseconds; the state that asks sees nothing of
** it.
*/
#ifndef TG_CALIBRATION_H
#define TG_CALIBRATION_H

#include "binding/lx.h"
#include "stream/costs.h"

/* The costs of the events of this state, if tracing begins in it now. All 0
   without memory, or where the base library is not what it should be. */
void tg_calibration_measure (tg_Costs *costs);

#endif
