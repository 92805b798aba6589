/*
** heapcounter.h - the size of Lua's heap as a counter of a processed profile,
** which the viewer draws as a track "Memory".
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

/* False without memory. */
bool tg_heapcounter_take (tg_HeapCounter *h, uint64_t ns, uint64_t bytes);

void tg_heapcounter_free (tg_HeapCounter *h); /* zeroed memory is fine */

#endif
