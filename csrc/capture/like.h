/*
** like.h - a table by what differs from a model (state/models.h). Private to
** table.c.
*/
#ifndef TG_CAPTURE_LIKE_H
#define TG_CAPTURE_LIKE_H

#include "capture/listing.h"
#include "capture/met.h"
#include "state/models.h"

/* A key or value; there is room. */
static TG_NOINLINE uint8_t *put_large (tg_Few *f, tg_Slot v, uint8_t *p) {
  return tg_few_put_large(f, v, p);
}

TG_INLINE uint8_t *put_inner (tg_Few *f, tg_Slot v, uint8_t *p) {
  uint8_t *end = tg_few_put_small(f, v, p);
  return tg_likely(end != NULL) ? end : put_large(f, v, p);
}

/* Whether it is told by its number in the list. */
TG_INLINE bool is_object (tg_Slot v) {
  return tg_slot_type(v) >= LUA_TTABLE
         || (tg_slot_type(v) == LUA_TLIGHTUSERDATA && v.u.p != NULL);
}

/* The state of seeing whether a table is like a model. */
typedef struct Like {
  tg_Few *f;
  const tg_Model *m;
  uint64_t differ;              /* a bit for each property that does */
  uint8_t *p;                   /* behind the values of those */
} Like;

/* A property differs, whose value's bytes end at 'end'; NULL: it is for the
   long way, and so is the table then, which false says here and below. */
TG_INLINE bool add_value (Like *k, const tg_ModelProperty *x, uint8_t *end) {
  k->differ |= UINT64_C(1) << (x - k->m->properties);
  k->p = end;
  return end != NULL;
}

/* A value that differs. Objects that are met here are to be those that come
   next, one after the other: any other is not to be one of them. */
static TG_NOINLINE bool see_other (Like *k, const tg_ModelProperty *x,
                                   tg_Slot v) {
  uint32_t met = k->f->count;
  uint8_t *end = put_inner(k->f, v, k->p);
  return add_value(k, x, (k->f->count == met) ? end : NULL);
}

/* Where the model has an object: of one that is met for the first time nothing
   at all is written, of any other its number, if there is one for it. */
TG_INLINE bool see_object (Like *k, const tg_ModelProperty *x, tg_Slot v) {
  if (tg_unlikely(!is_object(v)))
    return see_other(k, x, v);
  uint32_t met = k->f->count, id = tg_met_number(k->f, v);
  if (tg_likely(k->f->count > met))
    return true;
  return id < met
         && add_value(k, x, put_byte(k->p, (uint8_t)(TG_GRIP_SMALLOBJ + id)));
}

TG_INLINE bool see_value (Like *k, const tg_ModelProperty *x, tg_Slot v) {
  if (x->value_tag == TG_SEEN_OBJECT)
    return see_object(k, x, v);
  return tg_likely(tg_seen_same(x->value, x->value_tag, v))
         || see_other(k, x, v);
}

/* ---- tables ---- */

TG_INLINE bool see_elements (Like *k, const Listing *t) {
  const tg_ModelProperty *x = k->m->properties;
  for (uint32_t i = 0; i < t->elements; i++) {
    if (!see_value(k, x + i, element_of(t, i)))
      return false;
  }
  return true;
}

/* Whether the properties have the model's keys, in its order; '*flags' if there
   are more, which are as many as may be listed. */
TG_INLINE bool see_nodes (Like *k, const Listing *t, uint32_t *flags) {
  const uint8_t *node, *end = hash_part(t, &node);
  const tg_ModelProperty *x = k->m->properties + t->elements;
  const tg_ModelProperty *last = k->m->properties + k->m->count;
  for (; node < end; node += TG_SIZE_NODE) {
    if (!is_listed(t, node))
      continue;
    if (tg_unlikely(x == last)) {
      *flags |= TG_DESC_TRUNCATED;
      return k->m->count == t->elements + t->left;
    }
    if (!tg_seen_same(x->key, x->key_tag, tg_node_key(node))
        || !see_value(k, x, tg_node_value(node)))
      return false;
    x++;
  }
  return x == last;
}

TG_INLINE uint32_t bytes_of_differ (const tg_Model *m) {
  return (m->count + 6) / 7;
}

/* What differs from the model, if that is shorter than all of it; else NULL,
   and then it has to be written whole. Objects that were met keep their
   numbers, as they are named then in the same order. */
static uint8_t *put_like (tg_Few *f, const tg_Model *m, const Listing *t,
                          uint32_t flags, uint8_t *head, uint8_t *p) {
  if (m->elements != t->elements || m->count > t->elements + t->left)
    return NULL;
  uint32_t bytes = bytes_of_differ(m);
  const uint8_t *origin = f->c.session->writer.origin;
  uint8_t *differ = tg_putvar(p, (uint64_t)(m->head - origin));
  Like k = {.f = f, .m = m, .p = differ + bytes};
  if (m->objects)
    k.p = put_byte(k.p, (uint8_t)f->count);
  if (!see_elements(&k, t) || !see_nodes(&k, t, &flags)
      || (size_t)(k.p - p) >= m->size)
    return NULL;
  tg_putwide(differ, k.differ, bytes);
  *head = tg_values_short(m->objects ? TG_SHORT_LIKE_NEXT : TG_SHORT_LIKE,
                          flags);
  f->c.refers = true;
  return k.p;
}

#endif
