/*
** longest.h - which of a stream of calls are the longest, as they come.
**
** Of any number of calls a viewer can bear so many, and the longest tell most.
** Whoever writes them puts aside each one that tg_longest_admit lets in, with
** its rank, and at the end leaves out those that later ones have pushed out.
** Lengths are told apart to less than one part in a hundred (below 256 ns to
** the nanosecond); of those that are the same, the earlier calls stay.
**
** Plain C, one thread. Memory: 30 KB, however many there are.
*/
#ifndef TG_LONGEST_H
#define TG_LONGEST_H

#include "base/base.h"

typedef struct tg_Longest {
  uint32_t *counts;       /* owns; calls let in, by their length */
  uint32_t cut;           /* shorter lengths are out, of this one a few stay */
  uint32_t above;         /* calls let in that are longer than that */
  uint32_t most;
  uint64_t seen;          /* calls offered */
} tg_Longest;

/* False without memory. */
bool tg_longest_init (tg_Longest *l, uint32_t most);
void tg_longest_free (tg_Longest *l);

/* Whether the next call is among the longest so far; if so its rank. */
bool tg_longest_admit (tg_Longest *l, uint64_t ns, uint32_t *rank);

/* Whether a call that was let in still is among them. */
bool tg_longest_kept (const tg_Longest *l, uint64_t ns, uint32_t rank);

/* How many are. */
uint32_t tg_longest_count (const tg_Longest *l);

#endif
