/*
** listing.h - the properties of a table in the order in which they are listed,
** where memory has just that order. Private to table.c.
**
** A listing has the sequence from 1 on first, then the rest in lua_next's
** order, as far as the limit of properties goes (rules.h). Of most tables
** memory has just that order: an array without holes, which may go on in the
** hash part, and entries of that.
*/
#ifndef TG_CAPTURE_LISTING_H
#define TG_CAPTURE_LISTING_H

#include "direct/value.h"

/* How many of the array's slots, up to 'most', have something before the first
   that has nothing. */
static uint32_t count_elements (const void *table, uint32_t most) {
  uint32_t n = 0;
  while (n < most && !tg_slot_is_nil(tg_direct_element(table, n)))
    n++;
  return n;
}

/* Whether nothing of the array comes after the first 'n' slots. */
static bool ends_at (const void *table, uint32_t n, uint32_t size) {
  while (n < size && tg_slot_is_nil(tg_direct_element(table, n)))
    n++;
  return n == size;
}

/* Of a table, what its listing has: a sequence, then entries of the hash
   part. */
typedef struct Listing {
  const void *table;
  uint32_t size;        /* of the array */
  uint32_t elements;    /* of the sequence, which may go on in the hash part */
  uint32_t left;        /* entries of that, at most; those that are passed over
                           are none */
  bool cut;             /* the sequence alone is more than may be listed */
} Listing;

/* Element 'i' of the sequence, from 0. */
TG_INLINE tg_Slot element_of (const Listing *t, uint32_t i) {
  return tg_likely(i < t->size)
         ? tg_direct_element(t->table, i)
         : tg_direct_hashed(t->table, (uint64_t)i + 1);
}

/* How many more there are in the hash part, up to 'most' in all. */
static uint32_t count_hashed (const Listing *t, uint32_t n, uint32_t most) {
  while (n < most && !tg_slot_is_nil(element_of(t, n)))
    n++;
  return n;
}

/* Whether all of it is in an order that is seen at once: no hole in the array
   but at its end. */
TG_INLINE bool plan (Listing *t, uint32_t most) {
  uint32_t in_array = t->size <= most ? t->size : most + 1, n = 0;
  if (t->size > 0) {
    n = count_elements(t->table, in_array);
    if (n < in_array && (t->size > most || !ends_at(t->table, n, t->size)))
      return false;
  }
  if (n == t->size)
    n = count_hashed(t, n, most + 1);
  t->cut = n > most;
  t->elements = t->cut ? most : n;
  t->left = most - t->elements;
  return true;
}

/* Whether an entry of the hash part is listed there: not if it is empty, or one
   of the sequence. */
TG_INLINE bool is_listed (const Listing *t, const void *node) {
  if (tg_slot_is_nil(tg_node_value(node)))
    return false;
  if (tg_likely(t->elements <= t->size))
    return true;
  tg_Slot key = tg_node_key(node);
  return tg_slot_variant(key) != TG_TAG_INTEGER
         || (uint64_t)key.u.i - 1 >= t->elements;
}

/* The hash part from '*node' up to the end; none if the sequence has filled
   what there may be. */
TG_INLINE const uint8_t *hash_part (const Listing *t, const uint8_t **node) {
  *node = tg_direct_node(t->table, 0);
  size_t n = t->cut ? 0 : tg_direct_nodes(t->table);
  return *node + n * (size_t)TG_SIZE_NODE;
}

#endif
