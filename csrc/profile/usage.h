/*
** usage.h - what calls have allocated: beside a profile (profile.h), added up
** as it adds up time.
**
** What is allocated between two events is the innermost open frame's own
** (self), and that of all frames around it (total); with none open it is
** nobody's. So the self amounts of all rows and 'outside' are 'sum', to the
** byte. Recursion counts once in a row's total. What is freed is noted where it
** is freed, which is where the collector works, not where the block had come
** from.
**
** What is alive belongs to who made it (live.h), and where lines are asked for
** ('lined') to the line. Without a tree it is known of rows alone, and not of
** what they have called.
**
** 'peak' of a row or a node: by how much the heap was larger in one of its
** calls than where that call began, at the most.
**
** Rows, nodes and frames have the profile's numbers. Plain C, one thread.
** Memory: as the profile, about as much once more.
*/
#ifndef TG_USAGE_H
#define TG_USAGE_H

#include "base/base.h"
#include "profile/calltree.h"
#include "profile/live.h"
#include "profile/spots.h"
#include "stream/eventreader.h"

typedef struct tg_Amount {
  uint64_t count;             /* allocations */
  uint64_t allocated, freed;  /* bytes */
} tg_Amount;

typedef struct tg_UsageTally {
  tg_Amount self, total;
  uint64_t peak;              /* bytes */
  tg_Holding live, live_total;        /* alive at the end (live.h)... */
  tg_Holding high, high_total;        /* ...and when the heap was at its
                                         highest; totals with a tree only */
} tg_UsageTally;

typedef struct tg_UsageRow {
  tg_UsageTally tally;
  tg_Amount since;            /* the sum when a frame of it was open again */
} tg_UsageRow;

/* A frame on the stack. */
typedef struct tg_UsageOpen {
  uint32_t row, node;         /* node 0: there is no tree */
  tg_Amount at;               /* the sum at its entry */
  uint64_t base;              /* the heap then... */
  uint64_t high;              /* ...and its most since */
} tg_UsageOpen;

typedef struct tg_Usage {
  bool on;                    /* somebody asks */
  tg_Amount sum;              /* of all so far */
  tg_Amount outside;          /* of that, with no frame open */
  bool known;                 /* the heap's size is known: */
  uint64_t heap, peak;        /* its size now, and the largest ever */
  bool lined;                 /* set before all: */
  tg_Spots holders;           /* owns; owners are pairs of what is said below
                                 and a line, 0 if it is not known */
  tg_Live live;               /* owns; by node, without a tree by row + 1; 0: no
                                 frame was open */
  tg_UsageRow *rows;          /* owns */
  uint32_t nrows;
  tg_UsageTally *nodes;       /* owns; without a tree none is used */
  uint32_t nnodes;
  tg_UsageOpen *open;         /* owns; innermost last */
  uint32_t nopen, copen;
  bool settled;               /* nodes and rows have what is alive */
} tg_Usage;

void tg_usage_free (tg_Usage *u);             /* zeroed memory is fine */

/* A frame of this row is entered, at a node or at none (0); 'first': the row
   has no other open frame. False without memory. */
bool tg_usage_enter (tg_Usage *u, uint32_t row, uint32_t node, bool first);

/* The innermost frame is left; 'last': its row has no other open frame. 'own':
   no frame further out has its node. */
void tg_usage_leave (tg_Usage *u, bool last, bool own);

/* Frame number 'i' goes on as another node. False without memory. */
bool tg_usage_move (tg_Usage *u, uint32_t i, uint32_t node);

/* Adds what was allocated since the last call. */
void tg_usage_add (tg_Usage *u, const tg_Allocations *a);

/* The same of blocks that are alive, by any packet of allocations; which line
   of the innermost open frame has made them, 0 if that is not known. False
   without memory. */
bool tg_usage_hold (tg_Usage *u, const tg_Packet *packet, uint32_t line);

/* There are no more: nodes get what is alive in them and below, and rows what
   their nodes have. False without memory. */
bool tg_usage_settle (tg_Usage *u, const tg_CallTree *tree);

/* What a row, or a node, has; zeros if nothing was ever open there. */
tg_UsageTally tg_usage_row (const tg_Usage *u, uint32_t row);
tg_UsageTally tg_usage_node (const tg_Usage *u, uint32_t node);

#endif
