/*
** longestcalls.h - which of a stream of calls are the longest, as they come.
**
** Viewers can bear only so many calls, and the longest tell most. The writer
** puts aside each call that tg_longestcalls_admit lets in, with its rank, and
** at the end leaves out calls that later ones have pushed out. Lengths are told
** apart to less than one part in a hundred (below 256 ns to the nanosecond); of
** calls of the same length the earlier ones stay.
**
** Plain C, one thread. Memory: 30 KB for any number of calls.
*/
#ifndef TG_LONGESTCALLS_H
#define TG_LONGESTCALLS_H

#include "base/base.h"

typedef struct tg_LongestCalls {
  uint32_t *counts;       /* owns; calls let in, by their length */
  uint32_t cut;           /* shorter lengths are out, of this one a few stay */
  uint32_t above;         /* calls let in that are longer than that */
  uint32_t most;
  uint64_t seen;          /* calls offered */
} tg_LongestCalls;

/* False without memory. */
bool tg_longestcalls_init (tg_LongestCalls *l, uint32_t most);
void tg_longestcalls_free (tg_LongestCalls *l);

/* Whether the next call is among the longest so far; if so its rank. */
bool tg_longestcalls_admit (tg_LongestCalls *l, uint64_t ns, uint32_t *rank);

/* Whether a call that was let in still is among them. */
bool tg_longestcalls_kept (const tg_LongestCalls *l, uint64_t ns, uint32_t
rank);

/* How many are. */
uint32_t tg_longestcalls_count (const tg_LongestCalls *l);

#endif
