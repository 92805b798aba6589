/*
** heapcounter.h - the size of Lua's heap as a counter of a profile, which the
** viewer draws as a track "Memory".
**
** Plain C, one thread. Memory: 16 bytes for each time that it was read, a
** thousand in a second at most.
*/
#ifndef TG_HEAPCOUNTER_H
#define TG_HEAPCOUNTER_H

#include "base/base.h"

typedef struct tg_HeapSample {
  uint64_t ns;
  uint64_t bytes;
} tg_HeapSample;

typedef struct tg_HeapCounter {
  tg_HeapSample *list;        /* owns */
  uint32_t count, capacity;
} tg_HeapCounter;

/* The viewer knows the category "Memory", and draws the counter by it. */
#define TG_HEAPCOUNTER_NAME     "Lua heap"
#define TG_HEAPCOUNTER_CATEGORY "Memory"
#define TG_HEAPCOUNTER_ABOUT    "What Lua has allocated"

/* The change since the sample before: the viewer adds changes up, so the first
   is the heap's size. */
TG_INLINE int64_t tg_heapcounter_change (const tg_HeapCounter *h, uint32_t i) {
  tg_assert(i < h->count);
  return (int64_t)(h->list[i].bytes - (i > 0 ? h->list[i - 1].bytes : 0));
}

/* False without memory. */
bool tg_heapcounter_add (tg_HeapCounter *h, uint64_t ns, uint64_t bytes);

void tg_heapcounter_free (tg_HeapCounter *h); /* zeroed memory is fine */

#endif
