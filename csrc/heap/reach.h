/*
** reach.h - what the collector would not find: objects that nothing reaches
** from the roots, which it has not freed yet.
**
** Weak edges lead nowhere, and a pair of a table with weak keys to its value
** once both are found. Plain C, one thread.
*/
#ifndef TG_REACH_H
#define TG_REACH_H

#include "heap/weakness.h"

/* Adds edges to the last node, of the graph's that is being built: to what is
   to be collected, or what that refers to is found from. Edges from there to
   what is reached become weak. '*bytes' is how large all of it is. False
   without memory. */
bool tg_reach_add_garbage (tg_Graph *g, const tg_Weakness *w, uint64_t *bytes);

#endif
