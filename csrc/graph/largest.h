/*
** largest.h - of millions those that weigh the most, without a list of all.
**
** A heap of as many as are wanted, whose root is the least of them: most of
** what comes is less, which one comparison tells. Of two that weigh the same
** the smaller number comes first. Memory grows with what there is, up to what
** is wanted; what is refused is false. Plain C.
*/
#ifndef TG_LARGEST_H
#define TG_LARGEST_H

#include "base/base.h"

typedef struct tg_Weighed {
  uint64_t weight;
  uint32_t i;           /* the caller's number */
} tg_Weighed;

typedef struct tg_Largest {
  uint32_t most;        /* so many are wanted; set before the first */
  tg_Weighed *list;     /* owns */
  uint32_t count, capacity;
} tg_Largest;

bool tg_largest_add (tg_Largest *l, tg_Weighed w);

/* No more come: the list has the largest first. */
void tg_largest_sort (tg_Largest *l);

void tg_largest_free (tg_Largest *l);           /* zeroed memory is fine */

#endif
