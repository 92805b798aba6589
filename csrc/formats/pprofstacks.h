/*
** pprofstacks.h - the distinct stacks of a trace, each with what is added up of
** it: what a sample of a pprof profile is.
**
** A stack is known by its functions and the lines of the calls between them: a
** node of the tree is a callee with the line that it was called from. Which of
** its own lines ran is told by ticks, for each node apart. The
** children of the tree's root are roots of coroutines; those that begin with
** the same function are one.
**
** A stack has all its frames up to TG_PPROF_FOLDS. Beyond that a part that
** repeats itself is there once: f called by f called by f, or a cycle of up to
** TG_PPROF_CYCLE functions. A profile has each stack as a list of its own, so
** recursion would take as many bytes as the square of its depth. A function
** counts once in a stack, so its own time and its total are what they are.
** Frames that do not repeat are kept up to TG_PPROF_MOST; in deeper stacks the
** last frame kept counts as the innermost.
**
** Plain C, one thread. Memory: the distinct stacks, the frames that are open or
** wait. Without it the export's status says so.
*/
#ifndef TG_PPROFSTACKS_H
#define TG_PPROFSTACKS_H

#include "export/export.h"
#include "profile/bytick.h"
#include "profile/funclabels.h"
#include "profile/linetree.h"
#include "profile/live.h"

/* What is added up, in the order of a sample's values. */
typedef enum tg_PprofValue {
  TG_PPROF_CALLS, TG_PPROF_TIME,        /* of traced calls; ns on top of it */
  TG_PPROF_SAMPLES, TG_PPROF_CPU,       /* ticks with this stack; ns that these
                                           ticks stand for */
  TG_PPROF_OBJECTS, TG_PPROF_SPACE,     /* allocations; their bytes */
  TG_PPROF_FREED,                       /* bytes */
  TG_PPROF_LIVE, TG_PPROF_LIVE_SPACE,   /* blocks that are alive at the end;
                                           their bytes */
  TG_PPROF_VALUES
} tg_PprofValue;

#define TG_PPROF_FOLDS 128u
#define TG_PPROF_CYCLE 8u
#define TG_PPROF_MOST 512u

/* What is known of a node of the tree. */
typedef struct tg_PprofNode {
  uint64_t values[TG_PPROF_VALUES];
  uint32_t depth;               /* frames */
  bool folded;                  /* some of its stacks were deeper */
} tg_PprofNode;

typedef struct tg_PprofOpen {   /* an open frame */
  uint32_t node;
  uint32_t label;
  uint32_t level;               /* of its coroutine's, from 0 */
} tg_PprofOpen;

/* A node's row is the number of its callee; that of a coroutine's root its
   body's label beyond this, or that of the main one. */
#define TG_PPROF_BODIES TG_LINETREE_APART
#define TG_PPROF_MAIN UINT32_MAX

typedef struct tg_PprofStacks {
  tg_Export *x;                 /* borrows */
  tg_FuncLabels labels;         /* owns, as all that follows */
  tg_CallTree tree;             /* self times are those of its nodes */
  tg_ByTick bytick;
  tg_Spots callees;             /* labels, and the lines of their callers */
  tg_LineTimes lines;           /* of nodes, divided and chained; 'periods' are
                                   TG_PPROF_SAMPLES */
  tg_Live live;                 /* by maker */
  tg_Spots makers;              /* nodes and their lines (linememory.h) */
  tg_PprofNode *nodes;          /* by the tree's number */
  uint32_t cnodes;
  /* private */
  tg_IntMap yielded;            /* nodes of frames that wait, by coroutine and
                                   depth in it */
  tg_PprofOpen *open;
  uint32_t nopen, copen;
} tg_PprofStacks;

/* Whether the recording tells of this; of what is alive once it is read. */
bool tg_pprofstacks_tells (const tg_PprofStacks *s, tg_PprofValue v);

/* Reads all of it, from the first packet on. False if the export has failed. */
bool tg_pprofstacks_read (tg_PprofStacks *s, tg_Export *x);

/* Zeroed memory is fine. */
void tg_pprofstacks_free (tg_PprofStacks *s);

#endif
