/*
** classes.h - nodes that belong together added up: how many, their own bytes,
** and the bytes that they keep alive together.
**
** Which belong together the caller says, by a number for each node: its class,
** or its group (groups.h). What a group retains is the sum over those of its
** nodes that no other of the same group dominates, as DevTools count. Plain C.
*/
#ifndef TG_CLASSES_H
#define TG_CLASSES_H

#include "graph/dominators.h"

typedef struct tg_ClassSum {
  uint64_t count, self, retained;
  uint32_t node;        /* one of them, the one that retains most */
} tg_ClassSum;

/* A number for each node by its class; '*n' of them. NULL without memory. */
uint32_t *tg_classes_number (const tg_Graph *g, uint32_t *n);

/* The sums of 'n' groups; 'of': each node's, or TG_NO_NODE. NULL without
   memory. */
tg_ClassSum *tg_classes_add (const tg_Graph *g, const tg_Dominators *d,
                             const uint32_t *of, uint32_t n);

#endif
