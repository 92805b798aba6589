/*
** hash.h - where in a table the search for a number begins, and one number for
** some bytes.
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

/* FNV-1a: the same on every machine, and no secret. */
TG_INLINE uint64_t tg_hash_bytes (const void *data, size_t size) {
  const unsigned char *p = data;
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++)
    h = (h ^ p[i]) * UINT64_C(0x100000001b3);
  return h;
}

#endif
