/*
** identity.h - which objects of a snapshot were there in an earlier one: the
** same, and not others at an address that was used again.
**
** An id is an address where tracegrip wrote the file, and addresses are used
** again. But nodes are then in the order in which objects were made, and what
** survives keeps its place in that order, while what is new is the newest: so
** the survivors are the longest sequence of nodes that have the same id, type
** and class in both, in the same order. What is at its end may be new all the
** same, at the addresses of the newest of before: so it ends with the last node
** that refers to the same as it did, or is the same text. (What is like another
** in all that, at its place and in its order, cannot be told from it.)
**
** Other writers (V8) give each object a number of its own, which is enough.
** Plain C.
*/
#ifndef TG_IDENTITY_H
#define TG_IDENTITY_H

#include "graph/graph.h"

/* For each node of 'now' whether it was in 'before'; NULL without memory. */
uint8_t *tg_identity_survivors (const tg_Graph *now, const tg_Graph *before);

#endif
