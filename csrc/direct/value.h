/*
** value.h - Lua values straight from memory: what they are, the text of
** strings, what tables hold.
**
** The tags are those of 5.4 and 5.5: a type in the low four bits (as lua_type
** has it), a variant above, and bit 6 for what the collector owns.
*/
#ifndef TG_DIRECT_VALUE_H
#define TG_DIRECT_VALUE_H

#include "direct/family.h"

enum {
  TG_TAG_TYPE = 0x0f,
  TG_TAG_VARIANT = 0x3f         /* type and variant */
};

TG_INLINE int tg_slot_type (tg_Slot s) {
  return (int)(s.tag & TG_TAG_TYPE);
}

TG_INLINE int tg_slot_variant (tg_Slot s) {
  return (int)(s.tag & TG_TAG_VARIANT);
}

TG_INLINE bool tg_slot_is_nil (tg_Slot s) {
  return tg_slot_type(s) == LUA_TNIL;   /* of any of its variants */
}

/* ---- strings ---- */

TG_INLINE const char *tg_direct_short (const void *string, size_t *size) {
  *size = tg_read8(string, TG_AT_STRING_SHORT);
  return (const char *)string + TG_AT_STRING_TEXT;
}

TG_INLINE const char *tg_direct_long (const void *string, size_t *size) {
  *size = (size_t)tg_read64(string, TG_AT_STRING_LONG);
  return tg_direct_long_text(string);
}

/* The text of a string's slot. */
TG_INLINE const char *tg_slot_text (tg_Slot s, size_t *size) {
  return (tg_slot_variant(s) == TG_TAG_SHORT) ? tg_direct_short(s.u.p, size)
                                              : tg_direct_long(s.u.p, size);
}

/* The text of a string of which only the object is known: its own tag says
   whether it is short. */
TG_INLINE bool tg_direct_is_short (const void *string) {
  return (tg_read8(string, TG_AT_OBJECT_TAG) & TG_TAG_VARIANT) == TG_TAG_SHORT;
}

TG_INLINE const char *tg_direct_text (const void *string, size_t *size) {
  return tg_direct_is_short(string) ? tg_direct_short(string, size)
                                    : tg_direct_long(string, size);
}

/* ---- tables ---- */

TG_INLINE const void *tg_direct_node (const void *table, size_t i) {
  return (const uint8_t *)tg_read_pointer(table, TG_AT_TABLE_NODE)
         + i * TG_SIZE_NODE;
}

/* Whether there is an array: what is kept as its size may be less, but is 0 of
   none. */
TG_INLINE bool tg_direct_has_array (const void *table) {
  return tg_read32(table, TG_AT_TABLE_ELEMENTS) != 0;
}

TG_INLINE uint32_t tg_direct_nodes (const void *table) {
  return UINT32_C(1) << tg_read8(table, TG_AT_TABLE_NODES);
}

TG_INLINE tg_Slot tg_node_value (const void *node) {
  return tg_read_slot(node, 0);
}

TG_INLINE tg_Slot tg_node_key (const void *node) {
  tg_Slot s;
  memcpy(&s.u, (const uint8_t *)node + TG_AT_NODE_KEY, sizeof s.u);
  s.tag = tg_read8(node, TG_AT_NODE_TAG);
  return s;
}

/* The next node of those with the same hash; NULL after the last. */
TG_INLINE const void *tg_node_next (const void *node) {
  int32_t step = (int32_t)tg_read32(node, TG_AT_NODE_NEXT);
  return (step == 0) ? NULL
                     : (const uint8_t *)node + (ptrdiff_t)step * TG_SIZE_NODE;
}

/* What the table has for a short string, by its object. */
TG_INLINE tg_Slot tg_direct_field (const void *table, const void *string) {
  uint32_t hash = tg_read32(string, TG_AT_STRING_HASH);
  const void *n = tg_direct_node(table, hash & (tg_direct_nodes(table) - 1));
  for (; n != NULL; n = tg_node_next(n)) {
    tg_Slot key = tg_node_key(n);
    if (tg_slot_variant(key) == TG_TAG_SHORT && key.u.p == string)
      return tg_node_value(n);
  }
  return (tg_Slot){.tag = LUA_TNIL};
}

/* Which node integer 'k' hashes to (hashint of ltable.c). A modulus costs as
   much as all the rest, and small numbers need none. */
TG_INLINE uint32_t tg_direct_hash (uint32_t mask, uint64_t k) {
  if (tg_direct_facts.masks)
    return (uint32_t)k & mask;
  return (uint32_t)((k < (mask | 1)) ? k : k % (mask | 1));
}

/* What the table's nodes have for integer 'k'. */
TG_INLINE tg_Slot tg_direct_hashed (const void *table, uint64_t k) {
  uint32_t mask = tg_direct_nodes(table) - 1;
  const void *n = tg_direct_node(table, tg_direct_hash(mask, k));
  for (; n != NULL; n = tg_node_next(n)) {
    tg_Slot key = tg_node_key(n);
    if (tg_slot_variant(key) == TG_TAG_INTEGER && (uint64_t)key.u.i == k)
      return tg_node_value(n);
  }
  return (tg_Slot){.tag = LUA_TNIL};
}

/* What the table has for integer 'k', from 1 up. */
TG_INLINE tg_Slot tg_direct_index (const void *table, uint64_t k) {
  return (k <= tg_direct_array_size(table))
         ? tg_direct_element(table, (uint32_t)k - 1)
         : tg_direct_hashed(table, k);
}

/* The metatable of a table or full userdata; NULL: none. */
TG_INLINE const void *tg_direct_metatable (const void *object, int type) {
  return tg_read_pointer(object, (type == LUA_TTABLE) ? TG_AT_TABLE_META
                                                      : TG_AT_USERDATA_META);
}

/* What a traversal comes to, in lua_next's order. */
typedef struct tg_Traversal {
  const void *table;
  uint32_t elements;    /* slots of the array, */
  uint32_t i;           /* and the next one; */
  const uint8_t *node, *end;  /* then the next node, and the end of them */
  tg_Slot key, value;
} tg_Traversal;

TG_INLINE tg_Traversal tg_direct_traverse (const void *table) {
  const uint8_t *node = tg_direct_node(table, 0);
  return (tg_Traversal){
    .table = table, .elements = tg_direct_array_size(table), .node = node,
    .end = node + tg_direct_nodes(table) * (size_t)TG_SIZE_NODE
  };
}

/* False at the end. */
TG_INLINE bool tg_traversal_next (tg_Traversal *t) {
  while (t->i < t->elements) {
    t->value = tg_direct_element(t->table, t->i++);
    if (!tg_slot_is_nil(t->value)) {
      t->key = (tg_Slot){.u.i = t->i, .tag = TG_TAG_INTEGER};
      return true;
    }
  }
  while (t->node < t->end) {
    const uint8_t *node = t->node;
    t->node += TG_SIZE_NODE;
    t->value = tg_node_value(node);
    if (!tg_slot_is_nil(t->value)) {
      t->key = tg_node_key(node);
      return true;
    }
  }
  return false;
}

#endif
