/*
** longestcalls.c - counts by length, and the length from which on calls stay.
**
** Lengths below FINE have a count each, from there on each power of two has
** STEPS of them. A heap of the longest would be exact, and cost a comparison
** for each level of it with each call; this is one addition.
**
** For callmarks.c. Only tg_longestcalls_init can fail.
*/
#include "formats/firefox/longestcalls.h"

#include <string.h>

#include "base/alloc.h"

#define FINE_BITS 8
#define FINE (1u << FINE_BITS)
#define STEP_BITS 7
#define STEPS (1u << STEP_BITS)
#define LENGTHS (FINE + (64 - FINE_BITS) * STEPS)

bool tg_longestcalls_init (tg_LongestCalls *l, uint32_t most) {
  memset(l, 0, sizeof *l);
  l->most = most;
  l->counts = tg_calloc(LENGTHS, sizeof *l->counts);
  return l->counts != NULL;
}

void tg_longestcalls_free (tg_LongestCalls *l) {
  tg_free(l->counts);
  memset(l, 0, sizeof *l);
}

/* The class of a length: its highest eight bits, and where they stand. Classes
   are 1/128 apart at most: which of two calls stays is right to a percent. */
static uint32_t length_of (uint64_t ns) {
  if (ns < FINE)
    return (uint32_t)ns;
  uint32_t power = 63u - (uint32_t)__builtin_clzll(ns);
  uint32_t step = (uint32_t)(ns >> (power - STEP_BITS)) & (STEPS - 1);
  tg_assert(power >= FINE_BITS);
  return FINE + (power - FINE_BITS) * STEPS + step;
}

/*
** 'cut' is the class of which only a part stays, 'above' how many are in longer
** ones; both only rise. A call that is admitted now may be too short by the end
** (tg_longestcalls_kept): then its place goes to a longer one. Of the cut's own
** class the first ones stay, which is what 'rank' is for: the order of calls in
** the trace is the same in each export of it.
*/
bool tg_longestcalls_admit (tg_LongestCalls *l, uint64_t ns, uint32_t *rank) {
  uint32_t length = length_of(ns);
  l->seen++;
  if (length < l->cut
      || (length == l->cut && l->counts[length] >= l->most - l->above))
    return false;
  tg_assert(length < LENGTHS);
  *rank = l->counts[length]++;
  l->above += length > l->cut;
  while (l->above >= l->most && l->cut < LENGTHS - 1)
    l->above -= l->counts[++l->cut];
  return true;
}

bool tg_longestcalls_kept (const tg_LongestCalls *l, uint64_t ns,
                           uint32_t rank) {
  uint32_t length = length_of(ns);
  return length > l->cut
         || (length == l->cut && rank < l->most - l->above);
}

uint32_t tg_longestcalls_count (const tg_LongestCalls *l) {
  tg_assert(l->above <= l->most);
  uint32_t room = l->most - l->above;
  return l->above + (l->counts[l->cut] < room ? l->counts[l->cut] : room);
}
