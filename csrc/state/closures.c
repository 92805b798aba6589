/*
** closures.c - the table of functions that were called. Owned by a session's
** catalog, used in the hook on the traced thread. Without memory it forgets
** what it has: each function is then found out about again.
*/
#include <string.h>

#include "state/closures.h"
#include "base/alloc.h"

#define CLOSURES_MIN 1024u
#define CLOSURES_MAX 16384u         /* then the table starts anew */

bool tg_closures_init (tg_Closures *k) {
  k->slots = tg_calloc(CLOSURES_MIN, sizeof *k->slots);
  k->size = CLOSURES_MIN;
  k->used = 0;
  return k->slots != NULL;
}

void tg_closures_free (tg_Closures *k) {
  tg_free(k->slots);
  memset(k, 0, sizeof *k);
}

void tg_closures_clear (tg_Closures *k) {
  if (k->slots != NULL)
    memset(k->slots, 0, k->size * sizeof *k->slots);
  k->used = 0;
}

static void grow (tg_Closures *k) {
  tg_Closures larger = {.size = k->size * 2, .used = k->used};
  if (larger.size <= CLOSURES_MAX)
    larger.slots = tg_calloc(larger.size, sizeof *larger.slots);
  if (larger.slots == NULL) {
    tg_closures_clear(k);
    return;
  }
  for (uint32_t i = 0; i < k->size; i++) {
    if (k->slots[i].address != NULL)
      *tg_closures_find(&larger, k->slots[i].address) = k->slots[i];
  }
  tg_free(k->slots);
  *k = larger;
}

tg_Closure *tg_closures_add (tg_Closures *k, const void *address) {
  if (k->used * 2 > k->size)
    grow(k);
  tg_Closure *c = tg_closures_find(k, address);
  k->used += c->address == NULL;
  memset(c, 0, sizeof *c);
  c->address = address;
  return c;
}
