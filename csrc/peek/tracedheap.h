/*
** tracedheap.h - who made the objects of the heap, where a trace has followed
** their making: for a snapshot by a child (picture.h).
**
**     in the program   its last events are written (memorytrace.h)
**     the clone        with the mutex of the trace's stream held, which another
**                      thread may have had
**     in the child     read the trace; the block of each object ─> its origin
**                      (base/origins.h) ─> the way of calls (profile/allocways)
**
** So the program stands still no longer for it: all that takes time the child
** does.
*/
#ifndef TG_TRACEDHEAP_H
#define TG_TRACEDHEAP_H

#include "base/atfork.h"
#include "graph/graph.h"
#include "heap/census.h"
#include "peek/memorytrace.h"

/* Around the clone. */
void tg_tracedheap_fork (const tg_MemoryTrace *t, tg_AtFork side);

/* In the child: adds the makers to the graph of the heap, if there is such a
   trace. False without memory. */
bool tg_tracedheap_add (const tg_MemoryTrace *t, const tg_Heap *heap,
                        tg_Graph *g);

#endif
