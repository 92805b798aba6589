/*
** dominators.h - who keeps what alive: for each node the one that all ways
** from the root to it go through, and how many bytes would be free without it.
**
** The dominator tree by Lengauer and Tarjan, "A fast algorithm for finding
** dominators in a flowgraph" (1979), the simple version: n log n, whatever the
** graph is like, with the root as node 0 and edges that retain (graph.h). What
** cannot be reached from the root has no dominator and retains itself alone.
** Plain C, one thread; nothing recurses, since lists are long.
*/
#ifndef TG_DOMINATORS_H
#define TG_DOMINATORS_H

#include "graph/graph.h"

#define TG_NO_NODE UINT32_MAX

typedef struct tg_Dominators {
  uint32_t count;       /* nodes that can be reached */
  uint32_t *order;      /* owns; these, in depth-first order */
  uint32_t *dominator;  /* owns; by node; the root's is itself; TG_NO_NODE */
  uint64_t *retained;   /* owns; by node: bytes */
} tg_Dominators;

/* False without memory. */
bool tg_dominators_find (tg_Dominators *d, const tg_Graph *g);

void tg_dominators_free (tg_Dominators *d);

#endif
