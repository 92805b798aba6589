/*
** table.c - see table.h. Called in the hook, on the traced thread.
**
** A listing has the sequence from 1 on first, then the rest in lua_next's
** order, as far as the limit of properties goes (rules.h). Of most tables
** memory has just that order: an array without holes, and no key in the hash
** part that goes on with it. These are written here, in one go, with room for
** all of it asked for once: rules.h has to ask at each property. For any other
** the long way sorts things out.
*/
#include "capture/table.h"
#include "capture/budget.h"

#define ENTRIES_MAX 64u         /* properties of one table; what so many come
                                   to need not be counted (TG_PACKET_MAX) */

_Static_assert(2 * ENTRIES_MAX * TG_PLAIN_STRING * COST_PER_BYTE
               < TG_PACKET_MAX / (TG_PLAIN_MAX + 1),
               "tables full of strings are no packet too large");

/* A key or value; there is room. */
static TG_NOINLINE uint8_t *put_large (tg_Few *f, tg_Slot v, uint8_t *p) {
  return tg_few_put_large(f, v, p);
}

TG_INLINE uint8_t *put_inner (tg_Few *f, tg_Slot v, uint8_t *p) {
  uint8_t *end = put_small_slot(v, f->limit, p);
  return tg_likely(end != NULL) ? end : put_large(f, v, p);
}

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

static uint8_t *put_elements (tg_Few *f, const void *table, uint32_t n,
                              uint8_t *p) {
  for (uint32_t i = 0; i < n && p != NULL; i++)
    p = put_inner(f, tg_direct_element(table, i),
                  put_integer(p, (lua_Integer)i + 1));
  return p;
}

/* At most 'left' entries of the hash part. */
static uint8_t *put_nodes (tg_Few *f, const void *table, uint32_t left,
                           uint8_t *p, uint32_t *flags) {
  const uint8_t *node = tg_direct_node(table, 0);
  const uint8_t *end = node + tg_direct_nodes(table) * (size_t)TG_SIZE_NODE;
  for (; node < end; node += TG_SIZE_NODE) {
    tg_Slot value = tg_node_value(node);
    if (tg_slot_is_nil(value))
      continue;
    if (tg_unlikely(left-- == 0)) {
      *flags |= TG_DESC_TRUNCATED;
      return p;
    }
    p = put_inner(f, tg_node_key(node), p);
    if (tg_unlikely(p == NULL))
      return NULL;
    p = put_inner(f, value, p);
    if (tg_unlikely(p == NULL))
      return NULL;
  }
  return p;
}

/* The properties of a table whose array has more slots than may be listed, if
   all of them have something; else NULL. */
static uint8_t *put_long (tg_Few *f, const void *table, uint32_t most,
                          uint8_t *p, uint32_t *flags) {
  if (count_elements(table, most + 1) <= most)
    return NULL;
  *flags |= TG_DESC_TRUNCATED;
  return put_elements(f, table, most, p);
}

/* Of a table whose array may be listed whole. */
TG_INLINE uint8_t *put_whole (tg_Few *f, const void *table, uint32_t size,
                              uint32_t most, uint8_t *p, uint32_t *flags) {
  uint32_t n = 0;
  if (size > 0) {
    n = count_elements(table, size);
    if (!ends_at(table, n, size))
      return NULL;
  }
  if (n == size && !tg_slot_is_nil(tg_direct_hashed(table, (uint64_t)n + 1)))
    return NULL;
  if (n > 0)
    p = put_elements(f, table, n, p);
  return (p != NULL) ? put_nodes(f, table, most - n, p, flags) : NULL;
}

uint8_t *tg_few_put_table (tg_Few *f, const void *table, uint8_t *p,
                           uint32_t *flags) {
  uint32_t most = f->c.session->selection.limits.properties;
  uint32_t size = tg_direct_array_size(table);
  uint64_t n = (uint64_t)size + tg_direct_nodes(table);
  if (n > most)
    n = most;
  if (tg_unlikely(n > ENTRIES_MAX
                  || (size_t)(f->c.lim - p) < n * 2 * SMALL_ROOM + ROOM))
    return NULL;
  *flags |= TG_DESC_PROPS;
  p = (size > most) ? put_long(f, table, most, p, flags)
                    : put_whole(f, table, size, most, p, flags);
  return (p != NULL) ? put_byte(p, TG_GRIP_END) : NULL;
}
