/*
** birth.h - addresses as numbers of objects that DevTools can keep: odd, of 32
** bits, and the same for one address as long as the process lives.
**
** The heap grows up from where it begins and maps are made downwards from the
** loader, so an address is so many eighths from one of these, in one half of
** the numbers each: 8 GiB above the one, 6 below the other. What lies further
** away has the same number as something nearer may have; a graph with such
** objects says so (capture.h). The highest numbers are left for objects by the
** order of their birth (births.h). Plain C.
*/
#ifndef TG_BIRTH_H
#define TG_BIRTH_H

#include "base/base.h"

#define TG_BIRTH_HALF (UINT64_C(1) << 30)
#define TG_BIRTH_ORDERED (UINT64_C(1) << 28)    /* that are left... */
#define TG_BIRTH_DOWN (TG_BIRTH_HALF - TG_BIRTH_ORDERED)
#define TG_BIRTH_FIRST (2 * (TG_BIRTH_HALF + TG_BIRTH_DOWN) + 1)  /* ...from
                                                       this one on */

TG_INLINE uint64_t tg_birth_id (uint64_t low, uint64_t high, uint64_t at) {
  uint64_t up = (at - low) / 8, down = (high - at) / 8;
  if (at >= low && up < TG_BIRTH_HALF)
    return 2 * up + 1;
  return 2 * (TG_BIRTH_HALF + down % TG_BIRTH_DOWN) + 1;
}

/* Whether the number is that address' alone. */
TG_INLINE bool tg_birth_is_near (uint64_t low, uint64_t high, uint64_t at) {
  return (at >= low && (at - low) / 8 < TG_BIRTH_HALF)
         || (at < high && (high - at) / 8 < TG_BIRTH_DOWN);
}

#endif
