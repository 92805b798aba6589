/*
** table.c - see table.h. Called in the hook, on the traced thread.
**
** Tables whose properties stand in memory as they are listed (listing.h) are
** written in one go, with room for all of it asked for once: rules.h has to ask
** at each property. For any other the long way sorts things out.
**
** Where there is a model (state/models.h), what differs from it is written
** (like.h).
*/
#include "capture/table.h"
#include "capture/budget.h"
#include "capture/like.h"

#define ENTRIES_MAX 64u         /* properties of one table; what so many come
                                   to need not be counted (TG_PACKET_MAX) */

_Static_assert(2 * ENTRIES_MAX * TG_PLAIN_STRING * COST_PER_BYTE
               < TG_PACKET_MAX / (TG_PLAIN_MAX + 1),
               "tables full of strings are no packet too large");

/* ---- written whole ---- */

static uint8_t *put_elements (tg_Few *f, const Listing *t, uint8_t *p) {
  for (uint32_t i = 0; i < t->elements && p != NULL; i++)
    p = put_inner(f, element_of(t, i), put_integer(p, (lua_Integer)i + 1));
  return p;
}

static uint8_t *put_nodes (tg_Few *f, const Listing *t, uint8_t *p,
                           uint32_t *flags) {
  const uint8_t *node, *end = hash_part(t, &node);
  uint32_t left = t->left;
  for (; node < end; node += TG_SIZE_NODE) {
    if (!is_listed(t, node))
      continue;
    if (tg_unlikely(left-- == 0)) {
      *flags |= TG_DESC_TRUNCATED;
      return p;
    }
    p = put_inner(f, tg_node_key(node), p);
    if (tg_unlikely(p == NULL))
      return NULL;
    p = put_inner(f, tg_node_value(node), p);
    if (tg_unlikely(p == NULL))
      return NULL;
  }
  return p;
}

static uint8_t *put_whole (tg_Few *f, const Listing *t, uint32_t flags,
                           uint8_t *head, uint8_t *p) {
  if (t->elements > 0)
    p = put_elements(f, t, p);
  if (p != NULL)
    p = put_nodes(f, t, p, &flags);
  put_head(head, TG_OBJ_TABLE, flags);
  return (p != NULL) ? put_byte(p, TG_GRIP_END) : NULL;
}

/* ---- models ---- */

/* Without memory the list goes the long way, which needs none. */
TG_INLINE bool has_models (const tg_Few *f) {
  return f->c.session->capture.models != NULL;
}

TG_INLINE bool is_good (const tg_Few *f, const tg_Model *m) {
  return m->head != NULL && m->epoch == f->c.session->writer.epoch
         && m->limit == f->limit;
}

/* By its first two keys in the hash part, and how long its sequence is. */
static tg_Model *kind_of (const tg_Few *f, const Listing *t) {
  const uint8_t *node, *end = hash_part(t, &node);
  uint64_t word = t->elements;
  for (uint32_t keys = 0; node < end && keys < 2; node += TG_SIZE_NODE) {
    if (!is_listed(t, node))
      continue;
    word = word << 1 ^ (uint64_t)tg_node_key(node).u.i;
    keys++;
  }
  return tg_models_kind(f->c.session->capture.models, word);
}

/* False: there are too many, or one whose key is like no other. */
static bool add_property (tg_Model *m, tg_Slot key, tg_Slot value) {
  if (m->count == TG_MODEL_MOST || !tg_seen_told(key))
    return false;
  tg_ModelProperty *x = &m->properties[m->count++];
  x->key = tg_seen_word(key);
  x->key_tag = (uint8_t)key.tag;
  x->value = tg_seen_told(value) ? tg_seen_word(value) : 0;
  x->value_tag = tg_seen_told(value) ? (uint8_t)value.tag
                 : is_object(value) ? TG_SEEN_OBJECT : TG_SEEN_NEVER;
  m->nevers += x->value_tag == TG_SEEN_NEVER;
  m->objects = m->objects || x->value_tag == TG_SEEN_OBJECT;
  return true;
}

static bool add_properties (tg_Model *m, const Listing *t) {
  const tg_Slot number = {.u.i = 0, .tag = TG_TAG_INTEGER};
  const uint8_t *node, *end = hash_part(t, &node);
  for (uint32_t i = 0; i < t->elements; i++) {
    if (!add_property(m, number, element_of(t, i)))
      return false;
  }
  for (uint32_t left = t->left; node < end && left > 0; node += TG_SIZE_NODE) {
    if (!is_listed(t, node))
      continue;
    if (!add_property(m, tg_node_key(node), tg_node_value(node)))
      return false;
    left--;
  }
  return true;
}

/* Bytes that a table takes which is like the model in all that can be. */
static uint32_t least_of (const tg_Model *m) {
  return m->nevers + m->objects;
}

/* Whether something like the model can be shorter than the model is. */
static bool is_worth (const tg_Model *m) {
  return m->size > least_of(m) + 4 + bytes_of_differ(m);
}

/* From now on others may be like this one, whose 'size' bytes of properties
   belong to the descriptor at 'head'; false: nothing would be won by it. */
static TG_NOINLINE bool note_model (tg_Few *f, tg_Model *m, const Listing *t,
                                    const uint8_t *head, size_t size) {
  m->table = t->table;
  m->epoch = f->c.session->writer.epoch;
  m->count = m->nevers = 0;
  m->objects = false;
  m->size = (uint32_t)size;
  m->limit = f->limit;
  m->elements = t->elements;
  bool good = add_properties(m, t) && is_worth(m);
  m->head = good ? head : NULL;
  m->plain = !good;
  f->noted = true;
  return good;
}

/* What was found out of a table that is no model is at its address, unless
   another one is a model there. */
TG_INLINE void note_table (const tg_Few *f, tg_Model *own, const Listing *t,
                           bool plain) {
  if (is_good(f, own) && own->table != t->table)
    return;
  own->table = t->table;
  own->head = NULL;
  own->plain = plain;
  own->epoch = f->c.session->writer.epoch;
}

/* ---- tables ---- */

#define DEAR 8u           /* bytes, beside the least, that a table is told by */

/* Whether something was noted of the table, and it is no model. */
TG_INLINE bool is_noted (const tg_Few *f, const tg_Model *own,
                         const Listing *t) {
  return own->head == NULL && own->table == t->table
         && own->epoch == f->c.session->writer.epoch;
}

/* Like a model of its kind, where it has none at its address or is like that
   one no more. When it is told so for the second time, and with much that
   differs, it is to be a model itself: 'own' notes the first time. */
static uint8_t *put_like_kind (tg_Few *f, tg_Model *own, const tg_Model *kind,
                               const Listing *t, uint32_t flags,
                               uint8_t *head, uint8_t *p) {
  if (is_noted(f, own, t))
    return NULL;
  uint8_t *end = put_like(f, kind, t, flags, head, p);
  if (end != NULL && end - p > (ptrdiff_t)(DEAR + least_of(kind)))
    note_table(f, own, t, false);
  return end;
}

/* Like a model, if there is one; then '*place' is where the table would be one
   itself. */
static uint8_t *put_like_any (tg_Few *f, tg_Model **place, const Listing *t,
                              uint32_t flags, uint8_t *head, uint8_t *p) {
  tg_Model *own = *place;
  if (own->table == t->table && is_good(f, own)) {
    uint8_t *end = put_like(f, own, t, flags, head, p);
    if (end != NULL)
      return end;
  }
  tg_Model *kind = kind_of(f, t);
  if (is_good(f, kind))
    return put_like_kind(f, own, kind, t, flags, head, p);
  *place = kind;
  return NULL;
}

/* The properties by what they differ from a model, or whole; then they are a
   model from now on. */
static uint8_t *put_listing (tg_Few *f, const Listing *t, uint32_t flags,
                             uint8_t *head, uint8_t *p) {
  tg_Model *own = tg_models_place(f->c.session->capture.models, t->table);
  tg_Model *place = own;
  if (is_noted(f, own, t) && own->plain)
    return put_whole(f, t, flags, head, p);
  uint8_t *end = put_like_any(f, &place, t, flags, head, p);
  if (end != NULL)
    return end;
  end = put_whole(f, t, flags, head, p);
  if (end != NULL && !note_model(f, place, t, head, (size_t)(end - p)))
    note_table(f, own, t, true);
  return end;
}

/* Of fewer there is nothing to be won. */
#define ENTRIES_LIKE 2u

uint8_t *tg_few_put_table (tg_Few *f, const void *table, uint32_t flags,
                           uint8_t *head, uint8_t *p) {
  uint32_t most = f->c.session->selection.limits.properties;
  Listing t = {.table = table, .size = tg_direct_array_size(table)};
  uint64_t all = (uint64_t)t.size + tg_direct_nodes(table);
  uint64_t n = (all < most) ? all : most;
  if (tg_unlikely(n > ENTRIES_MAX
                  || (size_t)(f->c.lim - p) < n * 2 * SMALL_ROOM + ROOM)
      || !plan(&t, (most < ENTRIES_MAX) ? most : ENTRIES_MAX)
      || !has_models(f))
    return NULL;
  flags |= TG_DESC_PROPS;
  if (t.cut)
    flags |= TG_DESC_TRUNCATED;
  if (all <= ENTRIES_LIKE || tg_unlikely(f->c.session->capture.whole))
    return put_whole(f, &t, flags, head, p);
  return put_listing(f, &t, flags, head, p);
}
