/*
** clear.h - zeros for a structure of up to 192 bytes that is filled anew all
** the time.
**
** Of a memset of that size gcc makes one instruction ("rep stos"), which takes
** a processor longer to begin than it takes to store the zeros; of one of 64
** bytes it makes stores. So this is several.
*/
#ifndef TG_CLEAR_H
#define TG_CLEAR_H

#include <string.h>

#include "base/base.h"

#define TG_CLEAR_MOST 192u

/* 'size' is a constant. */
TG_INLINE void tg_clear (void *structure, size_t size) {
  uint8_t *p = structure;
  tg_assert(size <= TG_CLEAR_MOST);
  if (size > 128)
    memset(p + 128, 0, size - 128);
  if (size > 64)
    memset(p + 64, 0, size < 128 ? size - 64 : 64);
  memset(p, 0, size < 64 ? size : 64);
}

#endif
