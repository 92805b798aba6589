/*
** heapcounter.c - see heapcounter.h. For tracks.c, which fills it; processed.c
** and gecko.c write it.
*/
#include "formats/firefox/heapcounter.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

bool tg_heapcounter_add (tg_HeapCounter *h, uint64_t ns, uint64_t bytes) {
  if (!tg_grow(&h->list, &h->capacity, h->count + 1, sizeof *h->list))
    return false;
  h->list[h->count++] = (tg_HeapSample){ns, bytes};
  return true;
}

void tg_heapcounter_free (tg_HeapCounter *h) {
  tg_free(h->list);
  memset(h, 0, sizeof *h);
}
