/*
** lineticks.h - how many ticks of samples met each line of each node of a call
** tree: the "positionTicks" of a CPU profile, which DevTools shows beside the
** lines of a source, and their sum, its "hitCount".
**
** Plain C, one thread. Memory: distinct lines of distinct stacks.
*/
#ifndef TG_LINETICKS_H
#define TG_LINETICKS_H

#include "base/buf.h"
#include "base/intmap.h"

typedef struct tg_LineTick {
  uint64_t ticks;
  uint32_t line;              /* 0: not known */
  uint32_t next;              /* of the same node, plus 1; 0 ends */
} tg_LineTick;

typedef struct tg_LineTicks {
  tg_LineTick *list;          /* owns */
  uint32_t count, capacity;
  uint32_t *first;            /* owns; by node, plus 1; 0: it has none */
  uint32_t nodes;             /* that have a place in 'first' */
  tg_IntMap places;           /* owns; in the list, by node and line */
} tg_LineTicks;

/* False without memory. */
bool tg_lineticks_add (tg_LineTicks *t, uint32_t node, uint32_t line,
                       uint64_t ticks);

/* Of all lines of a node, and where the line is not known. */
uint64_t tg_lineticks_sum (const tg_LineTicks *t, uint32_t node);

/* Its "positionTicks", as one more member of an object; nothing if no line of
   it was met. */
void tg_lineticks_put (const tg_LineTicks *t, uint32_t node, tg_Buf *out);

void tg_lineticks_free (tg_LineTicks *t);     /* zeroed memory is fine */

#endif
