/*
** calibration.h - what tracing costs, measured when it begins.
**
** Little programs of calls that do nothing are run in a Lua state of their own,
** without a trace and with one. What the traced ones take longer is what the
** hook has cost them, here and now: it depends on the machine, and on what else
** that does. It takes some ten milliseconds; the state that asks sees nothing
** of it.
*/
#ifndef TG_CALIBRATION_H
#define TG_CALIBRATION_H

#include "binding/lx.h"
#include "stream/costs.h"

/* The costs of the events of this state, if tracing begins in it now. All 0
   without memory, or where the base library is not what it should be. */
void tg_calibration_measure (tg_Costs *costs);

#endif
