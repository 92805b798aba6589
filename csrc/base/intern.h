/*
** intern.h - each of many byte strings once, by number.
**
** For the tables of a document: names, paths, anything that is the same if its
** bytes are. Numbers are dense, from 0, in the order of first sight. Zeroed
** memory is empty. Plain C, one thread.
*/
#ifndef TG_INTERN_H
#define TG_INTERN_H

#include "base/base.h"
#include "base/buf.h"
#include "base/intmap.h"

typedef struct tg_InternItem {
  size_t at;            /* in 'bytes' */
  uint32_t size;
  uint32_t same;        /* the next one with this hash; TG_INTMAP_NONE */
} tg_InternItem;

typedef struct tg_Intern {
  tg_InternItem *items; /* owns */
  uint32_t count, capacity;
  tg_Buf bytes;         /* owns */
  tg_IntMap hashes;     /* owns; the latest item with a hash */
} tg_Intern;

/* The number of these bytes; TG_INTMAP_NONE: they were never added. */
uint32_t tg_intern_find (const tg_Intern *n, const void *data, size_t size);

/* The same, but new bytes get a number; TG_INTMAP_NONE without memory. */
uint32_t tg_intern_add (tg_Intern *n, const void *data, size_t size);

/* These bytes are looked for, or added, soon (tg_intmap_expect). Who adds them
   then gives back what this has returned. */
uint64_t tg_intern_expect (const tg_Intern *n, const void *data, size_t size);
uint32_t tg_intern_add_expected (tg_Intern *n, const void *data, size_t size,
                                 uint64_t hash);

/* So many will be added. */
void tg_intern_reserve (tg_Intern *n, uint32_t count);

/* The bytes of a number; they stay until the next addition. */
TG_INLINE const char *tg_intern_get (const tg_Intern *n, uint32_t i,
                                     size_t *size) {
  tg_assert(i < n->count);
  *size = n->items[i].size;
  return n->bytes.data + n->items[i].at;
}

void tg_intern_free (tg_Intern *n);

#endif
