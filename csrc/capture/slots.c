/*
** slots.c - lists and objects read straight from memory. What the
** public API's half (capture.c, objects.c) writes of the same values is
** the same bytes.
**
** Called in the hook, on the traced thread. One thing cannot be answered here:
** the definition of a function value that was never seen before. Then the
** capture is 'unknown', and is done once more by the public API, which defines
** it.
*/
#include "capture/slots.h"
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
const void *tg_capture_shared_metatable (lua_State *L, int type) {
  const void *meta = NULL;
  TG_STACK_GUARD(L);
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
  TG_STACK_CHECK(L);
  return meta;
}

/* Of a table that is only named one thing is told. */
bool tg_capture_has_content (const void *table) {
  tg_Traversal t = tg_direct_traverse(table);
  return tg_traversal_next(&t);
}

/* Writes the name that a metatable gives to its class, raw; gives its flag. */
TG_INLINE uint32_t put_class (tg_Capture *c, const void *meta) {
  tg_Slot name = tg_direct_field(meta, c->session->host.name_key);
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

/* The tag stays with the object: to be listed later it is read again from its
   address, and that does not say what it is. */
TG_INLINE uint32_t enter_slot (tg_Capture *c, tg_Slot v, uint32_t level,
                               bool *fresh) {
  uint32_t id = enter(c, v.u.p, tg_slot_type(v), level, 0, fresh);
  if (*fresh)
    c->pool->list[id].tag = (uint8_t)v.tag;
  return id;
}

/* An object and its metatable, and that one's, and so on: the two below call
   each other. Each round is a level deeper and enters an object that was not
   there, so it ends. */
static uint32_t meet (tg_Capture *c, tg_Slot v, uint32_t level);

/* The metatable of an object of that level, which is to be listed. */
static uint32_t meet_metatable (tg_Capture *c, const void *meta,
                                uint32_t level) {
  tg_Slot table = {.u.p = meta, .tag = LUA_TTABLE | TG_TAG_OWNED};
  return meet(c, table, level + 1);
}

/* An object inside another one, to be listed, is met with its metatable. */
static void examine (tg_Capture *c, uint32_t id) {
  tg_Object *o = &c->pool->list[id];
  const void *meta = tg_capture_metatable(c->L, slot_of(o));
  o->examined = true;
  if (meta == NULL)
    return;
  uint32_t proto = meet_metatable(c, meta, o->level);
  c->pool->list[id].proto = proto;      /* the pool may have grown */
}

/* The pool index of an object met at 'level' inside another one; TG_POOL_NONE:
   no room for it. */
static uint32_t meet (tg_Capture *c, tg_Slot v, uint32_t level) {
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

/* ---- what a table holds ---- */

/* A key or value that is not small: a long string, an object, or one for which
   the room must be looked at again. */
static TG_NOINLINE void put_large (tg_Capture *c, tg_Slot v, uint32_t level) {
  if (tg_slot_type(v) >= LUA_TTABLE || !put_scalar_slot(c, v))
    put_object(c, meet(c, v, level), tg_slot_type(v));
}

/* A property where something is to be hidden: its value by the key's name, or
   all of it if the key is a secret itself. */
static void put_veiled (tg_Capture *c, tg_Slot key, tg_Slot value,
                        uint32_t level) {
  size_t n = 0;
  bool named = tg_slot_type(key) == LUA_TSTRING;
  const char *text = named ? tg_slot_text(key, &n) : NULL;
  if (named && holds_secret(c, text, n)) {
    c->left_out = true;
    return;
  }
  put_large(c, key, level);
  if (named && tg_selection_hides(&c->session->selection, text, n)) {
    tg_veil_learn_slot(c->session, value);
    put_redacted(c);
  }
  else
    put_large(c, value, level);
}

/* A property whose key or value is not small, or may be secret. */
static TG_NOINLINE void put_special (tg_Capture *c, tg_Slot key, tg_Slot value,
                                     uint32_t level) {
  if (c->redacts) {
    put_veiled(c, key, value, level);
    return;
  }
  put_large(c, key, level);
  put_large(c, value, level);
}

/* The value of a property whose key is written, up to 'p'; there is room. */
TG_INLINE void put_value (tg_Capture *c, tg_Slot value, uint32_t level,
                          uint8_t *p) {
  c->p = p;
  p = put_small_slot(value, c->limits->string, p);
  if (tg_likely(p != NULL))
    c->p = p;
  else
    put_large(c, value, level);
}

/* Room for the key and the value is asked for at once, and both may turn out
   to be small: then nothing else is asked. */
TG_INLINE void put_property (tg_Capture *c, tg_Slot key, tg_Slot value,
                             uint32_t level) {
  if (!room(c, 2 * SMALL_ROOM))
    return;
  uint8_t *p = put_small_slot(key, c->limits->string, c->p);
  if (tg_unlikely(p == NULL || c->redacts))
    put_special(c, key, value, level);
  else
    put_value(c, value, level, p);
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

/* The array part. An element may be nil: an array shrinks only when the table
   grows (luaH_resize). False: no more may be listed. */
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

/* Nearly all keys are short strings. */
static void put_nodes (tg_Capture *c, tg_Listing *t, const void *table) {
  const uint8_t *node = tg_direct_node(table, 0);
  const uint8_t *end = node + tg_direct_nodes(table) * (size_t)TG_SIZE_NODE;
  for (; node < end; node += TG_SIZE_NODE) {
    tg_Slot value = tg_node_value(node);
    if (tg_slot_is_nil(value))
      continue;
    tg_Slot key = tg_node_key(node);
    if (tg_likely(tg_slot_variant(key) == TG_TAG_SHORT && !t->in_order)) {
      if (tg_unlikely(!affordable(c, t)))
        return;
      put_property(c, key, value, t->level);
    }
    else if (!put_entry(c, t, table, key, value))
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

/* Writes the properties of a table of that level, the sequence 1..n first, then
   the rest in lua_next's order; true if not all. */
static bool put_table (tg_Capture *c, const void *table, uint32_t level) {
  tg_Listing t = {.level = level + 1};
  c->left_out = false;
  if (!tg_slot_is_nil(tg_direct_index(table, 1)))
    begin_sequence(c, &t, table);
  if (!t.full && c->p != NULL && put_elements(c, &t, table))
    put_nodes(c, &t, table);
  return t.full || c->left_out;
}

/* ---- descriptors ---- */

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
  const void *meta = tg_capture_metatable(c->L, v);
  uint32_t flags = 0;
  if (meta != NULL)
    flags = TG_DESC_TRUNCATED | TG_DESC_META | put_class(c, meta);
  else if (tg_slot_type(v) == LUA_TTABLE && tg_capture_has_content(v.u.p))
    flags = TG_DESC_TRUNCATED;
  return flags | put_definition(c, v);
}

/* Of one that is listed. Which metatable a value of the list has is looked at
   now, so that arguments come first in the pool. */
TG_INLINE uint32_t put_listed (tg_Capture *c, const tg_Object *o, tg_Slot v) {
  const void *meta = tg_capture_metatable(c->L, v);
  uint32_t level = o->level, flags = 0;
  if (meta != NULL) {
    uint32_t proto = o->examined ? o->proto : meet_metatable(c, meta, level);
    flags = put_class(c, meta) | TG_DESC_PROTO;
    put_object(c, proto, LUA_TTABLE);
  }
  flags |= put_definition(c, v);
  if (tg_unlikely(tg_slot_type(v) != LUA_TTABLE))
    return flags;
  if (put_table(c, v.u.p, level))
    flags |= TG_DESC_TRUNCATED;
  if (room(c, ROOM))
    *c->p++ = TG_GRIP_END;
  return flags | TG_DESC_PROPS;
}

/* The flags of a descriptor are known only when its parts are written, so their
   place is left free. The pool may grow meanwhile and move, so the object is
   copied first. */
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

/* 'n' values from slot 'first' on, of which some are to be hidden. */
static TG_NOINLINE void put_some (tg_Capture *c, const tg_Veil *veil,
                                  const void *base, int first, int n) {
  for (int i = 0; i < n && c->p != NULL; i++) {
    if (tg_veil_has(veil, i))
      put_redacted(c);
    else
      put_outer(c, slot_at(base, first + i));
  }
}

/* By slots from the function's own: 'first' is negative for extra arguments,
   which are below it. */
static void put_values (tg_Capture *c, const void *base, int first, int n) {
  for (int i = 0; i < n && c->p != NULL; i++)
    put_outer(c, slot_at(base, first + i));
}

/* The count is of all there are, the values are those that a list may have. */
static void put_list (tg_Capture *c, const tg_ValueList *list,
                      const void *base) {
  int fixed = list->count, extra = list->varargs;
  if (fixed > TG_VALUES_MAX)
    fixed = TG_VALUES_MAX;
  if (extra > TG_VALUES_MAX - fixed)
    extra = TG_VALUES_MAX - fixed;
  c->p = tg_putvar(c->p, (uint64_t)list->count + (uint64_t)list->varargs);
  if (tg_unlikely(list->veil != NULL))
    put_some(c, list->veil, base, list->first, fixed);
  else
    put_values(c, base, list->first, fixed);
  if (tg_unlikely(extra > 0))
    put_values(c, base, -list->varargs, extra);
}

/* The pool is emptied in any case: it is the session's, and the next list's.
   What was remembered of strings that end up nowhere is forgotten. */
static uint8_t *capture (tg_Session *s, lua_State *L, const tg_ValueList *list,
                         const void *base, uint8_t *p, uint8_t *lim,
                         bool *unknown) {
  tg_Capture c = {.session = s, .L = L, .limits = &s->selection.limits,
                  .pool = &s->pool, .p = p + 4, .lim = lim,
                  .redacts = s->selection.redacts,
                  .in_stream = lim == s->writer.lim};
  if ((size_t)(lim - p) < 4 + ROOM)
    return NULL;
  tg_assert(c.pool->count == 0);
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

/* A secret that is met in a list may have been written before in the same one:
   then it is captured once more. */
uint8_t *tg_capture_slots (tg_Session *s, lua_State *L,
                           const tg_ValueList *list, const void *base,
                           uint8_t *p, uint8_t *lim, bool *unknown) {
  uint64_t learned = s->secrets.added;
  uint8_t *end = capture(s, L, list, base, p, lim, unknown);
  if (tg_likely(learned == s->secrets.added) || end == NULL)
    return end;
  tg_capture_forget(&s->writer, p);
  return capture(s, L, list, base, p, lim, unknown);
}
