/*
** addresstable.h - from the address of a block to what is known of it.
**
** Made for a meter of allocations (origins.h), which asks at each block that is
** made or freed: one array, open addressing, linear probing, and what is taken
** out leaves no mark, as those behind it move up. At most three quarters full
** and at most TG_ADDRESSTABLE_MOST places, 256 MiB: enough for the blocks of a
** heap of half a gigabyte. Outside of Lua's heap. Zeroed memory is empty.
**
** Plain C, one thread; nothing fails but tg_addresstable_reach, and nothing
** changes errno.
*/
#ifndef TG_ADDRESSTABLE_H
#define TG_ADDRESSTABLE_H

#include "base/base.h"

#define TG_ADDRESSTABLE_MOST (UINT32_C(1) << 24)

typedef struct tg_AddressEntry {
  uintptr_t address;      /* 0: the place is free */
  uint32_t origin;        /* what is known of it: where it is from... */
  uint32_t stands_for;    /* ...and for how many blocks it stands */
} tg_AddressEntry;

typedef struct tg_AddressTable {
  tg_AddressEntry *places;  /* owns */
  uint32_t capacity;      /* a power of two, or 0 */
  uint32_t count;
} tg_AddressTable;

/* What is known of the block; NULL: nothing. Until the next change. */
tg_AddressEntry *tg_addresstable_find (const tg_AddressTable *t,
                                       const void *block);

/* The place of a block, for tg_addresstable_fill: its entry, if it has one,
   else a free place. NULL without memory, and where the table is as large as it
   may be. */
tg_AddressEntry *tg_addresstable_reach (tg_AddressTable *t,
                                        const void *block);

/* A free place becomes an entry. */
TG_INLINE void tg_addresstable_fill (tg_AddressTable *t, tg_AddressEntry *place,
                                   tg_AddressEntry entry) {
  tg_assert(place->address == 0 && entry.address != 0);
  *place = entry;
  t->count++;
}

/* Takes an entry out that tg_addresstable_find has given. */
void tg_addresstable_drop (tg_AddressTable *t, tg_AddressEntry *entry);

void tg_addresstable_free (tg_AddressTable *t);

#endif
