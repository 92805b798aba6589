/*
** longest.h - which of a stream of calls are the longest, as they come.
**
** Of any number of calls a viewer can bear a few, and the longest tell most.
** Whoever writes them puts aside each one that tg_longest_admit lets in, with
** its serial number, and at the end leaves out those that later ones have
** pushed out. Calls of equal length: the earlier ones.
**
** Plain C, one thread. Memory: two numbers for each of those few.
*/
#ifndef TG_LONGEST_H
#define TG_LONGEST_H

#include "base.h"

typedef struct tg_LongCall {
  uint64_t ns;
  uint64_t serial;
} tg_LongCall;

typedef struct tg_Longest {
  tg_LongCall *heap;      /* owns; the shortest is first */
  uint32_t count, capacity;
  uint32_t most;
  uint64_t seen;          /* calls offered */
} tg_Longest;

void tg_longest_init (tg_Longest *l, uint32_t most);
void tg_longest_free (tg_Longest *l);

/* Whether the next call is among the longest so far; its serial number. Without
   memory it is not. */
bool tg_longest_admit (tg_Longest *l, uint64_t ns, uint64_t *serial);

/* Whether a call that was let in still is among them. */
bool tg_longest_kept (const tg_Longest *l, uint64_t ns, uint64_t serial);

#endif
