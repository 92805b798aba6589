/*
** calltree.h - calls added up by the way that led to them.
**
** A node is a function called by the functions above it: node 0 is the root,
** every other has a parent before it in the array. A stack of frames is one
** way down, so a node is open once at most at any time.
**
** Plain C, one thread. Memory: what distinct stacks there were.
*/
#ifndef TG_CALLTREE_H
#define TG_CALLTREE_H

#include "base/base.h"
#include "base/intmap.h"

/* What is added up of calls. */
typedef struct tg_Tally {
  uint64_t calls;       /* entries, not those after a yield */
  uint64_t throws;      /* exits by an error */
  uint64_t yields;      /* exits by a yield */
  uint64_t self_ns;     /* time as the innermost frame */
  uint64_t total_ns;    /* time as any frame of the stack, counted once */
  double variance;      /* of 'self_ns', in ns squared; 0: exact */
} tg_Tally;

/* What ticks say of the innermost frame. */
typedef struct tg_Ticked {
  uint64_t count;       /* ticks */
  uint64_t ns;          /* for which they stand... */
  double squares;       /* ...and the sum of the squares of each one's */
} tg_Ticked;

TG_INLINE void tg_ticked_add (tg_Ticked *t, uint64_t ns) {
  t->count++;
  t->ns += ns;
  t->squares += (double)ns * (double)ns;
}

typedef struct tg_Node {
  tg_Tally tally;
  tg_Ticked ticked;
  tg_Ticked free;       /* of these, ticks of the program without the hook */
  uint64_t spent_ns;    /* taken out of its self time: what tracing cost */
  uint64_t idle_ns;     /* of its self time, as far as waits are told
                           (bytick.h)... */
  uint64_t others_ns;   /* ...and what others had the processor for */
  uint64_t lua_calls;   /* calls of Lua functions that have entered it */
  uint32_t row;         /* whose it is: the owner's number for a function */
  uint32_t parent;
  uint32_t latest;      /* the child entered last; 0 = none yet */
  bool traced;          /* a call entered it, which has an exact time... */
  bool waits;           /* ...and may wait */
  bool is_lua;          /* ...and its function is none of C */
  bool pause;           /* it stands for the garbage collector, or the like */
  bool outermost;       /* no node above it has its row; for its owner */
} tg_Node;

typedef struct tg_CallTree {
  tg_Node *nodes;       /* owns */
  uint32_t count, capacity;   /* 0: there is no tree */
  tg_IntMap children;   /* owns; by parent and row */
} tg_CallTree;

/* A tree of its root only; false without memory. */
bool tg_calltree_init (tg_CallTree *t);
void tg_calltree_free (tg_CallTree *t);       /* zeroed memory is fine */

/* The child of 'parent' for 'row', made if there is none; 0 without memory. */
uint32_t tg_calltree_find (tg_CallTree *t, uint32_t parent, uint32_t row);

TG_INLINE uint32_t tg_calltree_child (tg_CallTree *t, uint32_t parent,
                                      uint32_t row) {
  uint32_t child = t->nodes[parent].latest;
  if (tg_likely(child != 0 && t->nodes[child].row == row))
    return child;
  return tg_calltree_find(t, parent, row);
}

#endif
