/*
** addresstable.c - see addresstable.h. Called by a meter in the place of Lua's
** allocator, at each block: the way that is usual is one multiplication and one
** line of the cache.
*/
#include "base/addresstable.h"

#include <errno.h>

#include "base/alloc.h"

#define LEAST 1024u

/* Each KiB of memory has 64 places that follow each other, somewhere: what is
   made one after the other, as allocators do it, is together here as well, and
   in the processor's cache (three times as fast as places by chance, where
   there are a million blocks). Where the KiB is, a multiplication says
   (Fibonacci hashing). Nobody but the allocator chooses addresses, so there is
   nothing to be guarded against. */
TG_INLINE uint32_t home_of (const tg_AddressTable *t, uintptr_t address) {
  uint64_t h = (uint64_t)(address >> 10) * UINT64_C(0x9e3779b97f4a7c15);
  uint32_t within = (uint32_t)(address >> 4) & 63;
  return ((uint32_t)(h >> 32) + within) & (t->capacity - 1);
}

TG_INLINE uint32_t next_of (const tg_AddressTable *t, uint32_t i) {
  return (i + 1) & (t->capacity - 1);
}

/* The block's entry, or the free place at which its search ends. */
TG_INLINE tg_AddressEntry *search (const tg_AddressTable *t,
                                   uintptr_t address) {
  uint32_t i = home_of(t, address);
  while (t->places[i].address != 0 && t->places[i].address != address)
    i = next_of(t, i);
  return &t->places[i];
}

tg_AddressEntry *tg_addresstable_find (const tg_AddressTable *t,
                                       const void *block) {
  if (t->count == 0)
    return NULL;
  tg_AddressEntry *e = search(t, (uintptr_t)block);
  return e->address != 0 ? e : NULL;
}

/* Many places are pages that the system makes ready in one go (alloc.h). */
#define LARGE ((size_t)2 << 20)

static size_t size_of (uint32_t capacity) {
  return capacity * sizeof(tg_AddressEntry);
}

static tg_AddressEntry *new_places (uint32_t capacity) {
  size_t size = size_of(capacity);
  return size < LARGE ? tg_calloc(1, size) : tg_pages_large(size);
}

static void free_places (tg_AddressTable *t) {
  if (size_of(t->capacity) < LARGE)
    tg_free(t->places);
  else
    tg_pages_free(t->places, size_of(t->capacity));
}

/* Twice as large; the old one is gone through once. */
static TG_NOINLINE bool grow (tg_AddressTable *t) {
  tg_AddressTable old = *t;
  int error = errno;
  uint32_t capacity = old.capacity > 0 ? 2 * old.capacity : LEAST;
  if (capacity > TG_ADDRESSTABLE_MOST)
    return false;
  t->places = new_places(capacity);
  errno = error;
  if (t->places == NULL) {
    *t = old;
    return false;
  }
  t->capacity = capacity;
  for (uint32_t i = 0; i < old.capacity; i++) {
    if (old.places[i].address != 0)
      *search(t, old.places[i].address) = old.places[i];
  }
  free_places(&old);
  return true;
}

tg_AddressEntry *tg_addresstable_reach (tg_AddressTable *t,
                                        const void *block) {
  tg_assert(block != NULL);
  if (tg_unlikely(t->count >= t->capacity / 4 * 3) && !grow(t))
    return NULL;
  return search(t, (uintptr_t)block);
}

/* Whether an entry whose search begins at 'home' and that is at 'i' is found
   from 'home' on, if it moves to 'hole'. */
static bool may_move (uint32_t hole, uint32_t home, uint32_t i) {
  return hole <= i ? home <= hole || home > i : home <= hole && home > i;
}

/* Those behind it move up, so that a search may end at the first free place
   (Knuth, 6.4, algorithm R). */
void tg_addresstable_drop (tg_AddressTable *t, tg_AddressEntry *entry) {
  uint32_t hole = (uint32_t)(entry - t->places);
  tg_assert(hole < t->capacity && entry->address != 0);
  for (uint32_t i = next_of(t, hole); t->places[i].address != 0;
       i = next_of(t, i)) {
    if (may_move(hole, home_of(t, t->places[i].address), i)) {
      t->places[hole] = t->places[i];
      hole = i;
    }
  }
  t->places[hole].address = 0;
  t->count--;
}

void tg_addresstable_free (tg_AddressTable *t) {
  free_places(t);
  *t = (tg_AddressTable){NULL, 0, 0};
}
