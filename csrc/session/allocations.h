/*
** allocations.h - what the program has allocated, noted in the stream before
** the next event: so it is known which frame ran meanwhile.
**
**     program ─> Lua ─> meter ─┬─> the state's allocator, given back at the end
**                              └─ *alarm = 0: the writer's 'ticks_stop'
**     next event ─> writer asks 'turn' (tracelimits.h) ─> ALLOCATIONS, event
**
** The meter (allocmeter.h) is installed while some trace has the type
** "allocations". That something was allocated brings the next event to 'turn',
** by the same limit that a trace's end in time has: so the hook itself asks
** nothing, and nothing is added to its way where no such trace runs. What is
** not told, for want of room, is told with a later event.
**
** What the tracer itself has Lua allocate is counted apart, and is no frame's:
** in its own functions, and in the hook.
*/
#ifndef TG_ALLOCATIONS_H
#define TG_ALLOCATIONS_H

#include "base/allocmeter.h"
#include "state/session.h"

/* Room for what was allocated alone. */
#define TG_ALLOCATIONS_ROOM (56u + TG_TIME_SIZE)

/* For all that tg_allocations_note writes: what the collector has done, too
   (collections.h). */
size_t tg_allocations_room (const tg_Session *s);

/* What is recorded has changed: installs the meter, or takes it out. False
   without memory. */
bool tg_allocations_review (tg_Session *s);

/* Tracing ends. The state has its allocator back, unless somebody has put
   another one before ours: then ours only passes on. */
void tg_allocations_end (tg_Session *s);

/* The size of the heap, where it could not be had when the meter was put there.
   */
void tg_allocations_base (tg_Session *s);                      /* [-0, +0, -] */

/* Whether there is something to be told. */
TG_INLINE bool tg_allocations_due (const tg_Session *s) {
  return s->memory.meter != NULL && s->memory.meter->due;
}

/* Tells of it, at 'now'; there is room. */
void tg_allocations_note (tg_Session *s, uint64_t now);

/* The same of now, if there is anything: a trace is about to begin, for which
   it does not count, or to end. May end traces, as any event may. */
void tg_allocations_settle (tg_Session *s);

#endif
