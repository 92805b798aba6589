/*
** closures.c - the table of functions that were called. Owned by a session's
** catalog, used in the hook on the traced thread. Without memory it forgets
** what it has: each function is then found out about again.
**
** Open addressing, looked at with each call: 'tg_closures_find' is in the
** header. Nothing is ever taken out. An address may be another function's by
** now, which shows when what is known of it is compared (catalog.h), so there
** is no need to hear of functions that are collected.
*/
#include <string.h>

#include "state/closures.h"
#include "base/alloc.h"

/* Slots. The most keeps what is dead from filling memory: then the table starts
   anew. */
#define CLOSURES_MIN 1024u
#define CLOSURES_MAX 16384u
#define BEYOND 64u                  /* slots beyond the mask */

/* No search wraps round: what has no room below the end goes on beyond it, so
   that to find an address is a loop over one pointer. */
static tg_Closure *new_slots (uint32_t mask) {
  return tg_calloc((size_t)mask + 1 + BEYOND, sizeof(tg_Closure));
}

bool tg_closures_init (tg_Closures *k) {
  k->mask = CLOSURES_MIN - 1;
  k->slots = new_slots(k->mask);
  k->used = 0;
  return k->slots != NULL;
}

void tg_closures_free (tg_Closures *k) {
  tg_free(k->slots);
  memset(k, 0, sizeof *k);
}

void tg_closures_clear (tg_Closures *k) {
  if (k->slots != NULL)
    memset(k->slots, 0, (k->mask + 1 + BEYOND) * sizeof *k->slots);
  k->used = 0;
}

/* Whether 'c' is the slot that must stay free. */
static bool is_last (const tg_Closures *k, const tg_Closure *c) {
  return c == &k->slots[k->mask + BEYOND];
}

/* Moves all to a larger table. False: there is none, or they do not fit. */
static bool move (const tg_Closures *k, tg_Closures *larger) {
  if (larger->mask >= CLOSURES_MAX)
    return false;
  larger->slots = new_slots(larger->mask);
  for (uint32_t i = 0; larger->slots != NULL && i < k->mask + BEYOND; i++) {
    if (k->slots[i].address == NULL)
      continue;
    tg_Closure *c = tg_closures_find(larger, k->slots[i].address);
    if (is_last(larger, c)) {
      tg_closures_free(larger);
      return false;
    }
    *c = k->slots[i];
  }
  return larger->slots != NULL;
}

/* Doubled, up to the limit: a program that makes closures without end fills it
   with dead ones where the public API is asked. */
static void grow (tg_Closures *k) {
  tg_Closures larger = {.mask = k->mask * 2 + 1, .used = k->used};
  if (!move(k, &larger)) {
    tg_closures_clear(k);
    return;
  }
  tg_free(k->slots);
  *k = larger;
}

/* At most half full, so that searches are short. An entry with this address is
   overwritten, since it was of another function. */
tg_Closure *tg_closures_add (tg_Closures *k, const void *address) {
  if (k->used * 2 > k->mask)
    grow(k);
  tg_Closure *c = tg_closures_find(k, address);
  if (is_last(k, c)) {
    tg_closures_clear(k);
    c = tg_closures_find(k, address);
  }
  tg_assert(!is_last(k, c) && address != NULL);
  k->used += c->address == NULL;
  memset(c, 0, sizeof *c);
  c->address = address;
  return c;
}
