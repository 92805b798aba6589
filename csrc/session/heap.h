/*
** heap.h - how much Lua has allocated, noted in the stream now and then, for
** traces that want to know.
**
** Only the size of the heap can be had without touching the program. Lua tells
** nobody when a collection begins or ends; a finalizer that would notice is an
** object more to be collected, and a stand-in for the allocator is asked for
** each block: that is for who wants more (collections.h). So here a collection
** shows as the heap becoming smaller, and one that the program asks for is a
** call of collectgarbage besides.
**
** The size is read with the first event that comes a millisecond or more after
** the last reading. Nothing of that is on the hook's way: the time is one of
** those at which the writer asks 'turn' (tracelimits.h).
*/
#ifndef TG_HEAP_H
#define TG_HEAP_H

#include "state/session.h"

/* Room for what tg_heap_note writes. */
#define TG_HEAP_ROOM (16u + TG_TIME_SIZE)

/* What is recorded has changed: the next event is due for a reading, or none
   is any more. */
void tg_heap_review (tg_Session *s);

/* A reading at 'now', when one is due; 'turn' has seen to the room. */
void tg_heap_note (tg_Session *s, uint64_t now);               /* [-0, +0, -] */

/* Whether one is. */
TG_INLINE bool tg_heap_due (const tg_Session *s, uint64_t now) {
  return now >= s->memory.heap_due;
}

#endif
