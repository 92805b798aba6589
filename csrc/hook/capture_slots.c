/*
** capture_slots.c - objects that are read straight from memory: class, what
** tables hold. What the public API's half (capture_objects.c) writes of the
** same values is the same bytes.
**
** Called in the hook, on the traced thread. One thing cannot be answered here:
** the definition of a function value that was never seen before. Then the
** capture is 'unknown', and is done once more by the public API, which defines
** it.
*/
#include "hook/capture_slots.h"
#include "state/catalog.h"

/* ---- class ---- */

static int sample (lua_State *L) {
  (void)L;
  return 0;
}

/* The metatable of a type whose values have none of their own. Which it is,
   the interpreter keeps where it is not to be found by offset: a value of the
   type is asked. Uses two slots of the stack, which a hook has
   (LUA_MINSTACK). */
static const void *shared_metatable (lua_State *L, int type) {
  const void *meta = NULL;
  if (type == LUA_TFUNCTION)
    lua_pushcfunction(L, sample);
  else if (type == LUA_TTHREAD)
    lua_pushthread(L);
  else
    lua_pushlightuserdata(L, NULL);
  if (lua_getmetatable(L, -1)) {
    meta = lua_topointer(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return meta;
}

TG_INLINE const void *metatable_of (const tg_Capture *c, tg_Slot v) {
  int type = tg_slot_type(v);
  if (tg_likely(type == LUA_TTABLE || type == LUA_TUSERDATA))
    return tg_direct_metatable(v.u.p, type);
  return shared_metatable(c->L, type);
}

/* The name that a metatable gives to its class, raw; NULL: none. */
TG_INLINE const char *class_name (const tg_Capture *c, const void *meta,
                                  size_t *size) {
  tg_Slot name = tg_direct_field(meta, c->session->name_key);
  return (tg_slot_type(name) == LUA_TSTRING) ? tg_slot_text(name, size) : NULL;
}

static bool has_content (const void *table) {
  tg_Traversal t = tg_direct_traverse(table);
  return tg_traversal_next(&t);
}

static tg_FunctionId definition (tg_Capture *c, tg_Slot f) {
  tg_FunctionId id = tg_catalog_seen(c->session, f);
  c->unknown |= id == 0;
  return id;
}

/* ---- objects ---- */

void tg_capture_slot_brief (tg_Capture *c, tg_Slot v) {
  int type = tg_slot_type(v);
  if (!room(c, ROOM))
    return;
  uint8_t *head = c->p;
  uint32_t flags = 0;
  c->p += 2;
  const void *meta = metatable_of(c, v);
  if (meta != NULL) {
    size_t n;
    const char *name = class_name(c, meta, &n);
    if (name != NULL)
      put_string(c, name, n);
    flags = TG_DESC_META | TG_DESC_TRUNCATED
            | ((name != NULL) ? TG_DESC_CLASS : 0u);
  }
  else if (type == LUA_TTABLE && has_content(v.u.p))
    flags = TG_DESC_TRUNCATED;
  if (type == LUA_TFUNCTION)
    flags |= put_function(c, definition(c, v));
  head[0] = (uint8_t)object_type(type);
  head[1] = (uint8_t)flags;
}

void tg_capture_slot_name (tg_Capture *c, tg_Object *o, tg_Slot v) {
  const void *meta = metatable_of(c, v);
  o->examined = o->brief = true;
  o->has_proto = false;
  o->cls = NULL;
  if (o->type == TG_OBJ_FUNCTION)
    o->function = definition(c, v);
  if (meta != NULL) {
    o->cut = o->meta = true;
    o->cls = class_name(c, meta, &o->cls_size);
  }
  else if (o->type == TG_OBJ_TABLE)
    o->cut = has_content(v.u.p);
}

/* The pool index of an object met at 'level'; TG_POOL_NONE: no room for it. */
static uint32_t meet (tg_Capture *c, tg_Slot v, uint32_t level) {
  bool fresh;
  uint32_t id = enter(c, v.u.p, tg_slot_type(v), level, 0, &fresh);
  if (id == TG_POOL_NONE)
    return id;
  tg_Object *o = &c->pool->list[id];
  if (level >= c->limits->depth) {
    if (fresh)
      tg_capture_slot_name(c, o, v);
    return id;
  }
  if (level < o->level)
    o->level = level;
  if (promote(o) || fresh)
    tg_capture_slot_examine(c, id, v);
  return id;
}

void tg_capture_slot_examine (tg_Capture *c, uint32_t id, tg_Slot v) {
  tg_Object *o = &c->pool->list[id];
  const void *meta = metatable_of(c, v);
  o->examined = true;
  o->has_proto = false;
  o->cls = NULL;
  if (o->type == TG_OBJ_FUNCTION)
    o->function = definition(c, v);
  if (meta == NULL)
    return;
  tg_Slot table = {.u.p = meta, .tag = LUA_TTABLE | TG_TAG_OWNED};
  uint32_t proto = meet(c, table, o->level + 1);
  o = &c->pool->list[id];       /* the pool may have grown */
  o->proto = proto;
  o->has_proto = true;
  o->cls = class_name(c, meta, &o->cls_size);
}

/* ---- what a table holds ---- */

/* A key or value that is not small. */
static TG_NOINLINE void put_large (tg_Capture *c, tg_Slot v, uint32_t level) {
  if (!put_scalar_slot(c, v))
    put_object(c, meet(c, v, level), tg_slot_type(v));
}

/* A key or value; there is room for a small one. */
TG_INLINE void put_part (tg_Capture *c, tg_Slot v, uint32_t level) {
  uint8_t *p = put_small_slot(v, c->limits->string, c->p);
  if (tg_likely(p != NULL))
    c->p = p;
  else
    put_large(c, v, level);
}

static bool secret_key (const tg_Capture *c, tg_Slot key) {
  size_t n;
  if (tg_slot_type(key) != LUA_TSTRING)
    return false;
  const char *text = tg_slot_text(key, &n);
  return tg_selection_hides(&c->session->selection, text, n);
}

TG_INLINE void put_property (tg_Capture *c, tg_Slot key, tg_Slot value,
                             uint32_t level) {
  if (!room(c, 2 * SMALL_ROOM))
    return;
  put_part(c, key, level);
  if (!room(c, SMALL_ROOM))
    return;
  if (tg_unlikely(c->session->selection.redacts && secret_key(c, key)))
    *c->p++ = TG_GRIP_REDACTED;
  else
    put_part(c, value, level);
}

/* Elements of the sequence from n + 1 on. */
static void put_sequence (tg_Capture *c, tg_Listing *t, const void *table) {
  for (;;) {
    tg_Slot v = tg_direct_index(table, (uint64_t)t->n + 1);
    if (tg_slot_is_nil(v) || !affordable(c, t))
      return;
    t->n++;
    if (!room(c, 2 * SMALL_ROOM))
      return;
    c->p = put_integer(c->p, t->n);
    put_part(c, v, t->level);
  }
}

/* Whether 'k' (0: no integer) is passed over: the sequence has it already. */
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

static void traverse (tg_Capture *c, tg_Listing *t, const void *table) {
  tg_Traversal all = tg_direct_traverse(table);
  while (tg_traversal_next(&all)) {
    bool integer = tg_slot_variant(all.key) == TG_TAG_INTEGER;
    lua_Integer k = integer ? all.key.u.i : 0;
    if ((t->in_order || integer) && in_sequence(c, t, table, k))
      continue;
    if (c->p == NULL || t->full || !affordable(c, t))
      return;
    put_property(c, all.key, all.value, t->level);
  }
}

/* The sequence 1..n first, then the rest. A sequence of more elements than
   may be listed is fetched, not traversed. */
bool tg_capture_slot_table (tg_Capture *c, const void *table, uint32_t level) {
  tg_Listing t = {0, level + 1, 0, 0, false, false};
  uint64_t beyond = (uint64_t)c->limits->properties + 1;
  if (!tg_slot_is_nil(tg_direct_index(table, 1))) {
    t.in_order = tg_slot_is_nil(tg_direct_index(table, beyond));
    if (!t.in_order)
      put_sequence(c, &t, table);
  }
  if (!t.full && c->p != NULL)
    traverse(c, &t, table);
  return t.full;
}
