/*
** extract.h - the part of a snapshot that somebody can look at: the objects
** that keep most alive, and who refers to them.
**
** A list of nodes. First come boxes: those of the dominator tree that retain
** most, the largest first, so that whoever keeps a box is a box before it. In a
** chain each keeps nearly all that the one before does; so that a long one does
** not take all the room, 64 levels further down half of it counts. Then
** come those that are on the ways to boxes and are none themselves: with each
** node whoever is before it on the shortest way from the root. Bounded,
** whatever the snapshot has: for what is not there each box says how much it
** keeps in all, and how many refer to it.
**
** Built from a view, whose graph, dominators and ways it borrows. Plain C, one
** thread.
*/
#ifndef TG_EXTRACT_H
#define TG_EXTRACT_H

#include "graph/view.h"

#define TG_EXTRACT_WAYS 4u      /* of a box */

/* One that refers to a box, by an edge. */
typedef struct tg_Reference {
  uint32_t from;        /* a node */
  uint32_t edge;
} tg_Reference;

typedef struct tg_Extract {
  const tg_View *view;  /* borrows */
  uint32_t *list;       /* owns, as all here; nodes */
  uint32_t count, boxes;
  uint32_t *place;      /* by node: where it is in the list; TG_NO_NODE */
  uint32_t *kept;       /* by node: objects that it keeps, itself too */
  tg_Reference *references;     /* TG_EXTRACT_WAYS of each box, the shortest
                                   first; from TG_NO_NODE: none */
  uint32_t *referrers;  /* by box: edges that keep it, in all */
} tg_Extract;

/* Boxes that a browser draws at once without being slow. */
#define TG_EXTRACT_MOST 20000u

/* Of 'most' boxes. False without memory; tg_extract_free in any case. */
bool tg_extract_make (tg_Extract *x, const tg_View *v, uint32_t most);

void tg_extract_free (tg_Extract *x);

#endif
