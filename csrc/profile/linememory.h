/*
** linememory.h - lines of memory: what each line of a row or a node has
** allocated, and what is alive of that, beside the times of lines
** (linetimes.h).
**
** Packets of allocations tell of the lines of the function that ran
** (stream/holdings.h). Such a line counts where that function is the one whose
** the packet is; a filter may hide what ran, and then none is known. What is
** alive is told by origins: of one that a single line has made the line is
** known, and the owner in a tg_Live is the number of a pair, a maker: whose it
** is, and the line.
**
** For profiles and exports, on the thread that reads. Functions that give a
** bool give false without memory. Numbers may come from a damaged file and be
** anything: they are added modulo 2^64.
*/
#ifndef TG_LINEMEMORY_H
#define TG_LINEMEMORY_H

#include "profile/funclabels.h"
#include "profile/linetree.h"
#include "profile/usage.h"

/* What the packet tells of lines of the function 'label' is added to the lines
   of 'of'. TG_INTMAP_NONE is no function's. */
bool tg_linememory_add (tg_LineTimes *l, uint32_t of,
                        const tg_FuncLabels *labels, uint32_t label,
                        const tg_Packet *packet);

/* The line of 'of' has allocated so much. */
bool tg_linememory_made (tg_LineTimes *l, uint32_t of,
                         const tg_AllocLine *line);

/* The line of the function 'label' that has made all that the packet tells of;
   0: it is not known. */
uint32_t tg_linememory_maker (const tg_FuncLabels *labels, uint32_t label,
                              const tg_Packet *packet);

/* Lines have what is alive of what they have made. 'rows': makers are nodes of
   that tree, and lines are of their rows; NULL: of what makers are. */
bool tg_linememory_hold (tg_LineTimes *l, const tg_Spots *makers,
                         const tg_Live *live, const tg_CallTree *rows);

/* All nodes but the root give up what their lines have, and each has a line 0
   for the rest, if there is any. Before lines become nodes. */
bool tg_linememory_divide (tg_Usage *u, tg_LineTimes *l);

/* Then: nodes are those of the tree of lines, and totals what is in them and
   below. No node but the root has a peak: of calls on one line it is not
   known. */
bool tg_linememory_place (tg_Usage *u, const tg_LineTimes *l,
                          const tg_LineTree *t);

#endif
