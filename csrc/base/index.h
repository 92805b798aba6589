/*
** index.h - from numbers of 64 bits to places in an array.
**
** Open addressing, linear probing, at most half full. Zeroed memory is empty.
** Plain C, one thread.
*/
#ifndef TG_INDEX_H
#define TG_INDEX_H

#include "base/base.h"

#define TG_INDEX_NONE UINT32_MAX    /* never a place */

typedef struct tg_IndexSlot {
  uint64_t key;
  uint32_t place;       /* TG_INDEX_NONE: free */
} tg_IndexSlot;

typedef struct tg_Index {
  tg_IndexSlot *slots;  /* owns */
  size_t capacity;      /* a power of two, or 0 */
  size_t count;
} tg_Index;

/* The place of a key, TG_INDEX_NONE if it has none. */
uint32_t tg_index_find (const tg_Index *x, uint64_t key);

/* Sets the place of a key; false without memory. */
bool tg_index_set (tg_Index *x, uint64_t key, uint32_t place);

/* Forgets a key that is there. */
void tg_index_drop (tg_Index *x, uint64_t key);

void tg_index_free (tg_Index *x);

#endif
