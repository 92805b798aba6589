/*
** foldedstacks.h - the distinct stacks of a trace and what belongs to each, for
** the format folded.
**
** The children of the tree's root are roots of coroutines; those that begin
** with the same function are one. With the option 'lines' a node is a function
** with the line at which it stood (profile/linetree.h).
**
** Plain C, one thread. Memory: the distinct stacks, the frames that are open,
** coroutines that may go on. Without it the export's status says so.
*/
#ifndef TG_FOLDEDSTACKS_H
#define TG_FOLDEDSTACKS_H

#include "base/intmap.h"
#include "export/export.h"
#include "profile/bytick.h"
#include "profile/funclabels.h"
#include "profile/linetree.h"
#include "profile/live.h"

/* A node's row is a label, or with 'lines' the number of a spot; that of a
   root, the body's label beyond this, or that of the main one. */
#define TG_FOLDED_BODIES TG_LINETREE_APART
#define TG_FOLDED_MAIN UINT32_MAX

typedef struct tg_FoldedOpen {  /* an open frame */
  uint32_t node;
  uint32_t label;
} tg_FoldedOpen;

typedef struct tg_FoldedStacks {
  tg_Export *x;               /* borrows */
  tg_FuncLabels labels;       /* owns, as all that follows */
  tg_CallTree tree;           /* a node's 'self_ns' is the sum of its stack,
                                 whatever the unit; its 'calls' are those folded
                                 into it */
  tg_Spots spots;             /* with 'lines': whose a node is, and the line; in
                                 the end that at which the frame stood */
  /* private */
  tg_ByTick bytick;
  tg_Live live;               /* by maker */
  tg_Spots makers;            /* nodes, and with 'lines' lines (linememory.h) */
  tg_LineTimes lines;         /* of nodes, whatever the unit */
  tg_IntMap roots;            /* nodes by thread, of coroutines that may go
                                 on */
  tg_FoldedOpen *open;
  uint32_t nopen, copen;
  uint64_t folded;            /* of x, as last seen */
} tg_FoldedStacks;

/* Reads all of it, from the first packet on. False if the export has failed. */
bool tg_foldedstacks_read (tg_FoldedStacks *s, tg_Export *x);

/* Zeroed memory is fine. */
void tg_foldedstacks_free (tg_FoldedStacks *s);

#endif
