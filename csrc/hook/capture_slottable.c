/*
** capture_slottable.c - what a table holds, read straight from memory: the
** sequence 1..n first, then the rest, in lua_next's order. Called by
** capture_slots.c, in the hook.
*/
#include "hook/capture_slots.h"

/* A key or value that is not small. */
static TG_NOINLINE void put_large (tg_Capture *c, tg_Slot v, uint32_t level) {
  if (tg_slot_type(v) >= LUA_TTABLE || !put_scalar_slot(c, v))
    put_object(c, tg_capture_slot_meet(c, v, level), tg_slot_type(v));
}

static TG_NOINLINE bool is_secret (const tg_Capture *c, tg_Slot key) {
  size_t n;
  if (tg_slot_type(key) != LUA_TSTRING)
    return false;
  const char *text = tg_slot_text(key, &n);
  return tg_selection_hides(&c->session->selection, text, n);
}

/* A property whose key or value is not small, or secret. */
static TG_NOINLINE void put_special (tg_Capture *c, tg_Slot key, tg_Slot value,
                                     uint32_t level) {
  put_large(c, key, level);
  if (c->session->selection.redacts && is_secret(c, key)) {
    if (room(c, SMALL_ROOM))
      *c->p++ = TG_GRIP_REDACTED;
  }
  else
    put_large(c, value, level);
}

TG_INLINE void put_property (tg_Capture *c, tg_Slot key, tg_Slot value,
                             uint32_t level) {
  uint32_t limit = c->limits->string;
  if (!room(c, 2 * SMALL_ROOM))
    return;
  uint8_t *p = put_small_slot(key, limit, c->p);
  if (tg_unlikely(p == NULL || c->session->selection.redacts)) {
    put_special(c, key, value, level);
    return;
  }
  c->p = p;
  p = put_small_slot(value, limit, p);
  if (tg_likely(p != NULL))
    c->p = p;
  else
    put_large(c, value, level);
}

/* Elements of the sequence from n + 1 on. */
static void put_sequence (tg_Capture *c, tg_Listing *t, const void *table) {
  for (;;) {
    tg_Slot v = tg_direct_index(table, (uint64_t)t->n + 1);
    if (tg_slot_is_nil(v) || !affordable(c, t))
      return;
    t->n++;
    tg_Slot key = {.u.i = t->n, .tag = TG_TAG_INTEGER};
    put_property(c, key, v, t->level);
    if (c->p == NULL)
      return;
  }
}

/* Whether integer 'k' is passed over: the sequence has it already. */
static bool in_sequence (tg_Capture *c, tg_Listing *t, const void *table,
                         lua_Integer k) {
  if (t->in_order) {
    if (k == t->n + 1) {
      t->n++;
      return false;
    }
    t->in_order = false;
    put_sequence(c, t, table);
  }
  return k >= 1 && k <= t->n;
}

/* One of a table's entries, in the order of a traversal. False: no more. */
TG_INLINE bool put_entry (tg_Capture *c, tg_Listing *t, const void *table,
                          tg_Slot key, tg_Slot value) {
  bool integer = tg_slot_variant(key) == TG_TAG_INTEGER;
  if (tg_unlikely(t->in_order || integer)
      && in_sequence(c, t, table, integer ? key.u.i : 0))
    return true;
  if (c->p == NULL || t->full || !affordable(c, t))
    return false;
  put_property(c, key, value, t->level);
  return true;
}

static bool put_elements (tg_Capture *c, tg_Listing *t, const void *table) {
  uint32_t n = tg_direct_array_size(table);
  for (uint32_t i = 0; i < n; i++) {
    tg_Slot value = tg_direct_element(table, i);
    tg_Slot key = {.u.i = (lua_Integer)i + 1, .tag = TG_TAG_INTEGER};
    if (!tg_slot_is_nil(value) && !put_entry(c, t, table, key, value))
      return false;
  }
  return true;
}

static void put_nodes (tg_Capture *c, tg_Listing *t, const void *table) {
  uint32_t n = tg_direct_nodes(table);
  for (uint32_t i = 0; i < n; i++) {
    const void *node = tg_direct_node(table, i);
    tg_Slot value = tg_node_value(node);
    if (!tg_slot_is_nil(value)
        && !put_entry(c, t, table, tg_node_key(node), value))
      return;
  }
}

/* A sequence of more elements than may be listed is fetched, not traversed. */
static TG_NOINLINE void begin_sequence (tg_Capture *c, tg_Listing *t,
                                        const void *table) {
  uint64_t beyond = (uint64_t)c->limits->properties + 1;
  t->in_order = tg_slot_is_nil(tg_direct_index(table, beyond));
  if (!t->in_order)
    put_sequence(c, t, table);
}

bool tg_capture_slot_table (tg_Capture *c, const void *table, uint32_t level) {
  tg_Listing t = {.level = level + 1};
  if (!tg_slot_is_nil(tg_direct_index(table, 1)))
    begin_sequence(c, &t, table);
  if (!t.full && c->p != NULL && put_elements(c, &t, table))
    put_nodes(c, &t, table);
  return t.full;
}
