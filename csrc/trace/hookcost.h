/*
** hookcost.h - what the hook costs, measured.
**
** A little program of calls that do nothing is run in a Lua state of its own,
** without a trace and with one: what the times between packets are longer than
** the bare calls is the hook's. It takes a fraction of a millisecond, and the
** state that asks sees nothing of it.
*/
#ifndef TG_HOOKCOST_H
#define TG_HOOKCOST_H

#include "binding/lx.h"
#include "scope/scope.h"

/* The cost of a call and of a return that are traced with these types. False
   without memory. */
bool tg_hookcost_measure (uint32_t types, tg_ScopeCost *cost);

#endif
