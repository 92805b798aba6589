/*
** intern.c - see intern.h.
**
** Called by exporters and the file writer, whoever owns the table, on one
** thread. Items of one hash are chained through 'same', the latest first; the
** map has the latest one of each. Memory that is refused changes nothing, but
** for 'bytes', whose error stays.
*/
#include "base/intern.h"

#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/grow.h"

/* Eight bytes at a time, each spread over all bits. Strings may come from a
   file that was made so that many have one hash: then the chains are long, and
   a document of its names takes longer. It stays right. */
static uint64_t hash_of (const void *data, size_t size) {
  const char *p = data;
  uint64_t h = size;
  for (size_t i = 0; i < size; i += 8) {
    h = (h ^ tg_escape_load(p + i, size - i)) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 32;
  }
  return h;
}

/* Lengths first, since most strings with the same hash differ in length. */
static bool same (const tg_Intern *n, uint32_t i, const void *data,
                  size_t size) {
  size_t its;
  const char *bytes = tg_intern_get(n, i, &its);
  return its == size && (size == 0 || memcmp(bytes, data, size) == 0);
}

/* Among those that have the hash of 'first'. */
static uint32_t look (const tg_Intern *n, uint32_t first, const void *data,
                      size_t size) {
  uint32_t i = first;
  while (i != TG_INTMAP_NONE && !same(n, i, data, size)) {
    tg_assert(n->items[i].same == TG_INTMAP_NONE || n->items[i].same < i);
    i = n->items[i].same;
  }
  return i;
}

uint32_t tg_intern_find (const tg_Intern *n, const void *data, size_t size) {
  return look(n, tg_intmap_find(&n->hashes, hash_of(data, size)), data, size);
}

uint64_t tg_intern_expect (const tg_Intern *n, const void *data,
                           size_t size) {
  uint64_t hash = hash_of(data, size);
  tg_intmap_expect(&n->hashes, hash);
  return hash;
}

void tg_intern_reserve (tg_Intern *n, uint32_t count) {
  tg_intmap_reserve(&n->hashes, count);
}

static bool room (tg_Intern *n) {
  return tg_grow(&n->items, &n->capacity, n->count + 1, sizeof *n->items);
}

uint32_t tg_intern_add (tg_Intern *n, const void *data, size_t size) {
  return tg_intern_add_expected(n, data, size, hash_of(data, size));
}

/* The map is set last: until then the string is not there, whatever was
   refused. One byte more is reserved, so that an empty first string has an
   address too. */
uint32_t tg_intern_add_expected (tg_Intern *n, const void *data, size_t size,
                                 uint64_t hash) {
  tg_IntMapSlot *slot = tg_intmap_slot(&n->hashes, hash);
  size_t at = n->bytes.size;
  if (slot == NULL)
    return tg_intern_find(n, data, size);
  uint32_t first = slot->place;
  uint32_t i = look(n, first, data, size);
  if (i != TG_INTMAP_NONE)
    return i;
  if (size > UINT32_MAX || !room(n) || !tg_buf_reserve(&n->bytes, size + 1))
    return TG_INTMAP_NONE;
  tg_intmap_fill(&n->hashes, slot, hash, n->count);
  tg_buf_add(&n->bytes, data, size);
  tg_assert(n->bytes.size == at + size);
  n->items[n->count] = (tg_InternItem){at, (uint32_t)size, first};
  return n->count++;
}

void tg_intern_free (tg_Intern *n) {
  tg_free(n->items);
  tg_buf_free(&n->bytes);
  tg_intmap_free(&n->hashes);
  memset(n, 0, sizeof *n);
}
