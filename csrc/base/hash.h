/*
** hash.h - where in a table the search for a number begins.
**
** Numbers may come from a file made so that all of them begin at one place,
** which takes the square of the time; so the place depends on where in memory
** the table is, which nobody knows beforehand.
*/
#ifndef TG_HASH_H
#define TG_HASH_H

#include "base/base.h"

TG_INLINE uint64_t tg_hash (uint64_t key, const void *table) {
  uint64_t h = key ^ (uint64_t)(uintptr_t)table >> 4;
  h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);   /* splitmix64 */
  h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
  return h ^ h >> 31;
}

#endif
