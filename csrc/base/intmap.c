/*
** intmap.c - see intmap.h.
**
** Called by whoever owns the map, on one thread. Linear probing: the next slot
** is in the same cache line mostly, and half full a search takes one or two
** looks. Memory that is refused leaves the map as it was.
*/
#include "base/intmap.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

#define FIRST_SLOTS 64
#define LARGE ((size_t)2 << 20) /* bytes; such pages are looked up once */

/* Where the search for a key begins. */
static size_t home (const tg_IntMap *x, uint64_t key) {
  return (size_t)tg_hash(key, x->slots) & (x->capacity - 1);
}

/* The slot of a key: its own, or the free slot where it would go. Half of the
   slots are free, so the search ends. */
static size_t slot_of (const tg_IntMap *x, uint64_t key) {
  tg_assert(x->capacity > 0 && (x->capacity & (x->capacity - 1)) == 0);
  size_t i = home(x, key);
  while (x->slots[i].place != TG_INTMAP_NONE && x->slots[i].key != key)
    i = (i + 1) & (x->capacity - 1);
  return i;
}

static size_t size_of (const tg_IntMap *x) {
  return x->capacity * sizeof *x->slots;
}

/* A search goes anywhere in them: with small pages each would be one more of
   the processor's searches, for the page. */
static tg_IntMapSlot *new_slots (size_t size) {
  return size < LARGE ? tg_malloc(size) : tg_pages_large(size);
}

static void free_slots (const tg_IntMap *x) {
  if (size_of(x) < LARGE)
    tg_free(x->slots);
  else
    tg_pages_free(x->slots, size_of(x));
}

/* Every key's place depends on where the slots are (hash.h), so all are put in
   anew and none is copied along. */
static bool rehash (tg_IntMap *x, size_t capacity) {
  tg_IntMap bigger = {.count = x->count, .capacity = capacity};
  if (capacity > SIZE_MAX / sizeof *bigger.slots)
    return false;
  bigger.slots = new_slots(size_of(&bigger));
  if (bigger.slots == NULL)
    return false;
  memset(bigger.slots, 0xff, size_of(&bigger));
  for (size_t i = 0; i < x->capacity; i++) {
    const tg_IntMapSlot *s = &x->slots[i];
    if (s->place != TG_INTMAP_NONE)
      bigger.slots[slot_of(&bigger, s->key)] = *s;
  }
  free_slots(x);
  *x = bigger;
  return true;
}

uint32_t tg_intmap_find (const tg_IntMap *x, uint64_t key) {
  return x->count > 0 ? x->slots[slot_of(x, key)].place : TG_INTMAP_NONE;
}

void tg_intmap_expect (const tg_IntMap *x, uint64_t key) {
  if (x->count > 0)
    __builtin_prefetch(&x->slots[home(x, key)]);
}

void tg_intmap_reserve (tg_IntMap *x, size_t count) {
  size_t capacity = FIRST_SLOTS;
  while (capacity / 2 < count && capacity <= SIZE_MAX / 2)
    capacity *= 2;
  if (capacity > x->capacity)
    (void)rehash(x, capacity);
}

/* Grown at half full, whether or not the key is a new one: to look first would
   be one more search each time. */
tg_IntMapSlot *tg_intmap_slot (tg_IntMap *x, uint64_t key) {
  size_t more = x->capacity > 0 ? x->capacity * 2 : FIRST_SLOTS;
  if (x->count >= x->capacity / 2 && !rehash(x, more))
    return NULL;
  return &x->slots[slot_of(x, key)];
}

void tg_intmap_fill (tg_IntMap *x, tg_IntMapSlot *slot, uint64_t key,
                     uint32_t place) {
  tg_assert(place != TG_INTMAP_NONE);
  x->count += slot->place == TG_INTMAP_NONE;
  *slot = (tg_IntMapSlot){key, place};
}

bool tg_intmap_set (tg_IntMap *x, uint64_t key, uint32_t place) {
  tg_IntMapSlot *slot = tg_intmap_slot(x, key);
  if (slot != NULL)
    tg_intmap_fill(x, slot, key, place);
  return slot != NULL;
}

/* Moves those back that a search would no longer find past the hole (Knuth,
   volume 3, 6.4, algorithm R). A mark for "was here" instead would be simpler,
   but marks stay, searches go on past them, and coroutines come and go by the
   million. */
void tg_intmap_drop (tg_IntMap *x, uint64_t key) {
  size_t mask = x->capacity - 1;
  size_t hole = slot_of(x, key);
  tg_assert(x->slots[hole].place != TG_INTMAP_NONE);
  for (size_t i = (hole + 1) & mask; x->slots[i].place != TG_INTMAP_NONE;
       i = (i + 1) & mask) {
    size_t from = home(x, x->slots[i].key);
    if (((i - from) & mask) >= ((i - hole) & mask)) {
      x->slots[hole] = x->slots[i];
      hole = i;
    }
  }
  tg_assert(x->count > 0);
  x->slots[hole].place = TG_INTMAP_NONE;
  x->count--;
}

void tg_intmap_free (tg_IntMap *x) {
  free_slots(x);
  memset(x, 0, sizeof *x);
}
