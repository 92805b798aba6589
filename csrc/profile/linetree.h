/*
** linetree.h - a tree in which a frame is a function with the line at which it
** stands: the same function on two lines is two nodes.
**
** It is made of a tree of callees, in which a node is a function with the line
** of its caller from which it was called, and of what ticks tell of the lines
** of each node itself:
**
**     main ─┬─ f, called from 7   lines 3 and 4      main:7 ─┬─ f:3
**           │                                               └─ f:4
**           └─ f, called from 8   line 4             main:8 ─── f:4
**
** So the line of a caller is the line of its call, that of the innermost frame
** the line which ran. What no tick tells of is a node without a line, 0. Calls,
** and what else is counted of a function as a whole, are in the node of it
** below the same caller that took the longest; where no tick tells of any line,
** in that which has allocated the most.
**
** Plain C, one thread. Memory: the distinct stacks with their lines.
*/
#ifndef TG_LINETREE_H
#define TG_LINETREE_H

#include "profile/linetimes.h"

/* A node's row is the number of a spot. From here on it is its owner's, such as
   a coroutine's root, and has no line. */
#define TG_LINETREE_APART UINT32_C(0x80000000)

typedef struct tg_LineTree {
  tg_CallTree tree;           /* owns */
  tg_Spots spots;             /* owns; functions and their lines */
  uint32_t *places;           /* owns; by the number of a line: its node */
} tg_LineTree;

/* Makes one of a tree whose rows are those of 'callees' (a function and the
   line of its caller), and whose self times are settled; 'lines' are of its
   nodes, and divided. False without memory. */
bool tg_linetree_make (tg_LineTree *out, const tg_CallTree *t,
                       const tg_Spots *callees, const tg_LineTimes *lines);

void tg_linetree_free (tg_LineTree *t);       /* zeroed memory is fine */

#endif
