/*
** intmap.h - from numbers of 64 bits to places in an array.
**
** Open addressing, linear probing, at most half full. Zeroed memory is empty.
** Plain C, one thread.
*/
#ifndef TG_INTMAP_H
#define TG_INTMAP_H

#include "base/base.h"

#define TG_INTMAP_NONE UINT32_MAX   /* never a place */

typedef struct tg_IntMapSlot {
  uint64_t key;
  uint32_t place;       /* TG_INTMAP_NONE: free */
} tg_IntMapSlot;

typedef struct tg_IntMap {
  tg_IntMapSlot *slots; /* owns */
  size_t capacity;      /* a power of two, or 0 */
  size_t count;
} tg_IntMap;

/* The place of a key; TG_INTMAP_NONE: the map does not have the key. */
uint32_t tg_intmap_find (const tg_IntMap *x, uint64_t key);

/* The key is looked for soon: where that begins comes into the processor's
   cache meanwhile. */
void tg_intmap_expect (const tg_IntMap *x, uint64_t key);

/* Sets the place of a key; false without memory. */
bool tg_intmap_set (tg_IntMap *x, uint64_t key, uint32_t place);

/* Both in one search: where the key's place is, or would be (TG_INTMAP_NONE),
   which tg_intmap_fill then sets before anything else is done to the map. NULL
   without memory. */
tg_IntMapSlot *tg_intmap_slot (tg_IntMap *x, uint64_t key);
void tg_intmap_fill (tg_IntMap *x, tg_IntMapSlot *slot, uint64_t key,
                     uint32_t place);

/* Room for so many keys at once. Without memory, as they come. */
void tg_intmap_reserve (tg_IntMap *x, size_t count);

/* Forgets a key that is there. */
void tg_intmap_drop (tg_IntMap *x, uint64_t key);

void tg_intmap_free (tg_IntMap *x);

#endif
