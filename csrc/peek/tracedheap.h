/*
** tracedheap.h - who made the objects of the heap, where a trace has followed
** their making: for a snapshot by a child (picture.h).
**
**     in the program   its last events are written (memorytrace.h)
**     the clone        with the mutexes of streams held, which another thread
**                      may have had
**     in the child     read the trace; the block of each object ─> its origin
**                      (base/origins.h) ─> the way of calls (profile/allocways)
**
** So the program stands still no longer for it: all that takes time the child
** does. Events that are in memory it finds there; those of a trace on a file,
** which the program has let go of, in the file.
**
** A clone that another thread makes, at any moment, finds the trace in the
** child: it may be in the middle of being changed, which is told, and what was
** allocated last may not be in the stream. That was made by what ran.
*/
#ifndef TG_TRACEDHEAP_H
#define TG_TRACEDHEAP_H

#include "base/atfork.h"
#include "graph/graph.h"
#include "heap/census.h"
#include "peek/memorytrace.h"

/* Whose trace is asked. */
typedef struct tg_HeapTracer {
  tg_MemoryTrace trace;   /* of the thread's own state, or... */
  const lua_State *main;  /* ...to be sought in the child: of this state; NULL:
                             it is not */
} tg_HeapTracer;

/* Around the clone. */
void tg_tracedheap_fork (tg_HeapTracer *t, tg_AtFork side);

typedef enum tg_TracedHeap {
  TG_TRACEDHEAP_DONE,     /* also where nobody is known */
  TG_TRACEDHEAP_MEMORY,
  TG_TRACEDHEAP_BUSY      /* a moment later it may be found */
} tg_TracedHeap;

/* In the child: adds the makers to the graph of the heap, if there is such a
   trace. */
tg_TracedHeap tg_tracedheap_add (tg_HeapTracer *t, const tg_Heap *heap,
                                 tg_Graph *g);

#endif
