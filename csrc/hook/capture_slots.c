/*
** capture_slots.c - lists and objects read straight from memory. What the
** public API's half (capture.c, capture_objects.c) writes of the same values is
** the same bytes.
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
static TG_NOINLINE const void *shared_metatable (lua_State *L, int type) {
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

static bool has_content (const void *table) {
  tg_Traversal t = tg_direct_traverse(table);
  return tg_traversal_next(&t);
}

/* Writes the name that a metatable gives to its class, raw; gives its flag. */
TG_INLINE uint32_t put_class (tg_Capture *c, const void *meta) {
  tg_Slot name = tg_direct_field(meta, c->session->name_key);
  if (tg_slot_type(name) != LUA_TSTRING)
    return 0;
  size_t n;
  const char *text = tg_slot_text(name, &n);
  put_string(c, text, n);
  return TG_DESC_CLASS;
}

/* ---- objects ---- */

/* An object as it was met. Of a light userdata only the type matters, and that
   its address is odd (identity_of). */
TG_INLINE tg_Slot slot_of (const tg_Object *o) {
  return (tg_Slot){.u.p = o->address, .tag = o->tag};
}

TG_INLINE uint32_t enter_slot (tg_Capture *c, tg_Slot v, uint32_t level,
                               bool *fresh) {
  uint32_t id = enter(c, v.u.p, tg_slot_type(v), level, 0, fresh);
  if (*fresh)
    c->pool->list[id].tag = (uint8_t)v.tag;
  return id;
}

/* The metatable of an object of that level, which is to be listed. */
static uint32_t meet_metatable (tg_Capture *c, const void *meta,
                                uint32_t level) {
  tg_Slot table = {.u.p = meta, .tag = LUA_TTABLE | TG_TAG_OWNED};
  return tg_capture_slot_meet(c, table, level + 1);
}

/* An object inside another one, to be listed, is met with its metatable. */
static void examine (tg_Capture *c, uint32_t id) {
  tg_Object *o = &c->pool->list[id];
  const void *meta = metatable_of(c, slot_of(o));
  o->examined = true;
  if (meta == NULL)
    return;
  uint32_t proto = meet_metatable(c, meta, o->level);
  c->pool->list[id].proto = proto;      /* the pool may have grown */
}

uint32_t tg_capture_slot_meet (tg_Capture *c, tg_Slot v, uint32_t level) {
  bool fresh;
  uint32_t id = enter_slot(c, v, level, &fresh);
  if (id == TG_POOL_NONE)
    return id;
  tg_Object *o = &c->pool->list[id];
  if (level >= c->limits->depth) {
    o->brief |= fresh;
    return id;
  }
  if (level < o->level)
    o->level = level;
  if (promote(o) || fresh)
    examine(c, id);
  return id;
}

/* What descriptors of functions have. */
TG_INLINE uint32_t put_definition (tg_Capture *c, tg_Slot v) {
  if (tg_likely(tg_slot_type(v) != LUA_TFUNCTION))
    return 0;
  tg_FunctionId id = tg_catalog_seen(c->session, v);
  c->unknown |= id == 0;
  return put_function(c, id);
}

/* Of an object that is only named. */
TG_INLINE uint32_t put_name (tg_Capture *c, tg_Slot v) {
  const void *meta = metatable_of(c, v);
  uint32_t flags = 0;
  if (meta != NULL)
    flags = TG_DESC_TRUNCATED | TG_DESC_META | put_class(c, meta);
  else if (tg_slot_type(v) == LUA_TTABLE && has_content(v.u.p))
    flags = TG_DESC_TRUNCATED;
  return flags | put_definition(c, v);
}

/* Of one that is listed. Which metatable a value of the list has is looked at
   now, so that arguments come first in the pool. */
TG_INLINE uint32_t put_listed (tg_Capture *c, const tg_Object *o, tg_Slot v) {
  const void *meta = metatable_of(c, v);
  uint32_t level = o->level, flags = 0;
  if (meta != NULL) {
    uint32_t proto = o->examined ? o->proto : meet_metatable(c, meta, level);
    flags = put_class(c, meta) | TG_DESC_PROTO;
    put_object(c, proto, LUA_TTABLE);
  }
  flags |= put_definition(c, v);
  if (tg_unlikely(tg_slot_type(v) != LUA_TTABLE))
    return flags;
  if (tg_capture_slot_table(c, v.u.p, level))
    flags |= TG_DESC_TRUNCATED;
  if (room(c, ROOM))
    *c->p++ = TG_GRIP_END;
  return flags | TG_DESC_PROPS;
}

static void put_descriptor (tg_Capture *c, uint32_t id) {
  tg_Object *o = &c->pool->list[id];
  if (!room(c, ROOM))
    return;
  uint8_t *head = c->p;
  c->p += 2;
  head[0] = o->type;
  o->brief = false;             /* what is written stays so */
  tg_Slot v = slot_of(o);
  uint32_t flags = (o->level >= c->limits->depth) ? put_name(c, v)
                                                  : put_listed(c, o, v);
  head[1] = (uint8_t)flags;
}

/* ---- lists ---- */

/* One of the values of the list. */
TG_INLINE void put_outer (tg_Capture *c, tg_Slot v) {
  bool fresh;
  int type = tg_slot_type(v);
  if (type < LUA_TTABLE && put_scalar_slot(c, v))
    return;
  put_object(c, enter_slot(c, v, 0, &fresh), type);
}

/* 'n' values from slot 'first' on. */
static void put_values (tg_Capture *c, const tg_ValueList *list,
                        const void *base, int first, int n) {
  for (int i = 0; i < n && c->p != NULL; i++) {
    if (tg_unlikely(first > 0 && secret_parameter(c, list->secrets, i))) {
      if (room(c, ROOM))
        *c->p++ = TG_GRIP_REDACTED;
    }
    else
      put_outer(c, slot_at(base, first + i));
  }
}

static void put_list (tg_Capture *c, const tg_ValueList *list,
                      const void *base) {
  int fixed = list->count, extra = list->varargs;
  if (fixed > TG_VALUES_MAX)
    fixed = TG_VALUES_MAX;
  if (extra > TG_VALUES_MAX - fixed)
    extra = TG_VALUES_MAX - fixed;
  c->p = tg_putvar(c->p, (uint64_t)list->count + (uint64_t)list->varargs);
  put_values(c, list, base, list->first, fixed);
  put_values(c, list, base, -list->varargs, extra);
}

uint8_t *tg_capture_slots (tg_Session *s, lua_State *L,
                           const tg_ValueList *list, const void *base,
                           uint8_t *p, uint8_t *lim, bool *unknown) {
  tg_Capture c = {.session = s, .L = L, .limits = &s->selection.limits,
                  .pool = &s->pool, .p = p + 4, .lim = lim,
                  .in_stream = lim == s->writer.lim};
  if ((size_t)(lim - p) < 4 + ROOM)
    return NULL;
  put_list(&c, list, base);
  for (uint32_t id = 0; c.p != NULL && id < c.pool->count; id++)
    put_descriptor(&c, id);
  tg_objectpool_clear(c.pool);
  *unknown = c.unknown;
  if (tg_unlikely(c.unknown || c.p == NULL))
    tg_capture_forget(&s->writer, p);
  else
    tg_put32(p, (uint32_t)(c.p - p - 4) | (c.refers ? TG_VALUES_REFERS : 0u));
  return c.p;
}
