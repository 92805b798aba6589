/*
** sums.h - the events of a segment, added up by timeline, kind and depth.
**
** What a question about all of a segment needs to know of it. Where there are
** more such sums than is worth keeping, the segment has none and is read when
** it is asked about.
**
** Plain C, one thread. Memory: what is returned, and the slots of a maker.
*/
#ifndef TG_SUMS_H
#define TG_SUMS_H

#include "scope/scope.h"

typedef struct tg_ScopeSum {
  uint32_t timeline, kind, depth;
  uint64_t hits, time_ns, overhead_ns;
  uint64_t start_ns, end_ns;  /* the first start, the last end */
  uint64_t first;       /* the lowest id */
} tg_ScopeSum;

typedef struct tg_ScopeSums {
  tg_ScopeSum *list;    /* owns */
  uint32_t count;
  bool whole;           /* kept, not dropped as too large */
} tg_ScopeSums;

/* Memory for making lists of sums, one list after the other. Zeroed is
   empty. */
typedef struct tg_ScopeSummer {
  uint32_t *slots;      /* owns; 0 or the number of a sum + 1 */
  uint32_t nslots;      /* a power of two, or 0 */
} tg_ScopeSummer;

/* Adds up those of the events that have an id. False without memory; 'sums' is
   to be freed in any case. */
bool tg_scopesums_make (tg_ScopeSummer *with, tg_ScopeSums *sums,
                        const tg_ScopeEvent *events, size_t count);

void tg_scopesums_free (tg_ScopeSums *sums);  /* zeroed memory is fine */

#endif
