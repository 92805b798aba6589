/*
** capture.h - a Lua state's memory as a graph: census, names, edges, roots, and
** what nothing reaches any more.
**
**     image ─> census ─> naming ─> links ─> graph ─> snapshotwriter
**                  size ──────────────────────┘
**
** The layout of the root: the root is synthetic, and what Lua begins at, the
** registry, the main thread and the metatables of types, are objects that it
** refers to itself. So DevTools take these for the program's roots and count
** distances from them. With such roots they also add what is `hidden` or
** `array` to its owner's size; we have neither, so sizes stay as they are. What
** is to be collected hangs below one synthetic node more, since a snapshot
** begins no collection.
**
** The sum of all sizes is what the state says that it has in use. Plain C.
*/
#ifndef TG_CAPTURE_H
#define TG_CAPTURE_H

#include "graph/snapshotwriter.h"
#include "heap/census.h"

typedef struct tg_CaptureSums {
  uint64_t objects, bytes;      /* of the graph */
  uint64_t state_bytes; /* what the state says */
  uint64_t garbage;     /* bytes that nothing reaches */
  uint64_t distant;     /* objects whose number may be another's (birth.h) */
} tg_CaptureSums;

/* False: no memory, or the heap was not taken. */
bool tg_capture (tg_Graph *g, tg_Heap *heap, tg_CaptureSums *sums);

#endif
