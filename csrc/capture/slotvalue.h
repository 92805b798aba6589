/*
** slotvalue.h - values for rules.h, from memory. Private to slots.c and few.c.
**
** A value is its slot: it is read where it lives, and lives as long as the
** event, since nothing is allocated in Lua meanwhile. So nothing is pushed, and
** there is nothing to let go of.
**
** One thing cannot be answered: the definition of a function value that was
** never seen before. Then the capture is 'unknown', and is done once more by
** the public API, which defines it.
*/
#ifndef TG_CAPTURE_SLOTVALUE_H
#define TG_CAPTURE_SLOTVALUE_H

#include "capture/list.h"
#include "capture/slots.h"
#include "state/catalog.h"

typedef tg_Slot Value;
typedef tg_Traversal Traversal;

/* ---- what it is ---- */

TG_INLINE int type_of (Value v) {
  return tg_slot_type(v);
}

TG_INLINE const void *address_of (const tg_Capture *c, Value v) {
  (void)c;
  return v.u.p;
}

TG_INLINE const char *text_of (const tg_Capture *c, Value v, size_t *n) {
  (void)c;
  return tg_slot_text(v, n);
}

TG_INLINE uint8_t *put_small (const tg_Capture *c, Value v, uint32_t limit,
                              uint8_t *p) {
  (void)c;
  return put_small_slot(v, limit, p);
}

TG_INLINE bool is_integer (Value v, lua_Integer *i) {
  *i = v.u.i;
  return tg_slot_variant(v) == TG_TAG_INTEGER;
}

TG_INLINE Value integer_value (lua_Integer i) {
  return (Value){.u.i = i, .tag = TG_TAG_INTEGER};
}

TG_INLINE tg_FunctionId definition_of (tg_Capture *c, Value v) {
  tg_FunctionId id = tg_catalog_known(c->session, v);
  c->unknown |= id == 0;
  return id;
}

/* ---- where it is found ---- */

/* Extra arguments are below the function's own slot. */
TG_INLINE Value take_item (tg_Capture *c, const tg_ValueList *list, int i) {
  int n = list->count;
  return slot_at(c->base, (i < n) ? list->first + i : i - n - list->varargs);
}

TG_INLINE void leave_item (tg_Capture *c, const tg_ValueList *list, int i,
                           Value v) {
  (void)c, (void)list, (void)i, (void)v;
}

TG_INLINE bool take_metatable (tg_Capture *c, Value v, Value *meta) {
  const void *table = tg_capture_metatable(c->L, v);
  *meta = (Value){.u.p = table, .tag = LUA_TTABLE | TG_TAG_OWNED};
  return table != NULL;
}

TG_INLINE Value take_field (tg_Capture *c, Value table, lua_Integer k) {
  (void)c;
  return tg_direct_index(table.u.p, (uint64_t)k);
}

TG_INLINE void leave (tg_Capture *c) {
  (void)c;
}

static TG_NOINLINE void read_class (tg_Capture *c, const void *meta) {
  Value name = tg_direct_field(meta, c->session->host.name_key);
  c->meta = meta;
  c->name = NULL;
  if (tg_slot_type(name) == LUA_TSTRING)
    c->name = tg_slot_text(name, &c->name_size);
}

/* Objects of a list are often of one class. */
TG_INLINE const char *class_of (tg_Capture *c, Value meta, size_t *n) {
  if (meta.u.p != c->meta)
    read_class(c, meta.u.p);
  *n = c->name_size;
  return c->name;
}

TG_INLINE bool has_content (const tg_Capture *c, Value table) {
  (void)c;
  return tg_capture_has_content(table.u.p);
}

TG_INLINE Traversal traverse (tg_Capture *c, Value table) {
  (void)c;
  return tg_direct_traverse(table.u.p);
}

TG_INLINE bool next_entry (tg_Capture *c, Traversal *t, Value *key,
                           Value *value) {
  (void)c;
  if (!tg_traversal_next(t))
    return false;
  *key = t->key;
  *value = t->value;
  return true;
}

TG_INLINE void leave_traversal (tg_Capture *c) {
  (void)c;
}

/* ---- to be looked at later ---- */

/* The address alone does not say what is there. Of a light userdata only the
   type matters, and that its address is odd (identity_of). */
TG_INLINE void note_place (tg_Object *o, Value v) {
  o->tag = (uint8_t)v.tag;
}

TG_INLINE bool keep (tg_Capture *c, tg_Object *o, Value v) {
  (void)c, (void)o, (void)v;
  return true;
}

TG_INLINE bool is_kept (const tg_Object *o) {
  (void)o;
  return true;
}

TG_INLINE Value value_of (const tg_Object *o) {
  return (Value){.u.p = o->address, .tag = o->tag};
}

TG_INLINE bool may_nest (const tg_Capture *c) {
  (void)c;
  return true;
}

#endif
