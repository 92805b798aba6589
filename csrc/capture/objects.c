/*
** objects.c - objects met while values are captured by the public API:
** identity, class, and what tables hold.
**
** An object that is still to be listed stands on the Lua stack; what is only
** named (class and identity) does not.
**
** Called in the hook, on the traced thread, by capture.c, which sets the stack
** back when the list is complete. Raw access only (lua_next, lua_rawget): what
** the program has in __pairs, __index or __name never runs. Nothing fails here:
** room that is too small is latched in the capture (c->p == NULL), and an
** object for which the stack or the pool has no room is only named, or marked.
*/
#include "capture/inline.h"
#include "state/catalog.h"

/* The stack is as it was found but for 'n' values, unless some object of the
   list stands: then there are more, below those of who asks. */
#define LEFT(c, n) do { \
    if (!(c)->pushed) \
      TG_STACK_LEFT((c)->L, n); \
  } while (0)

/*
** Makes the object on top of the stack stand: a copy goes 'under' values below
** the top, out of the way of lua_next. It is looked at later, breadth first,
** and the table that it was met in may be all that keeps it from the collector:
** on the stack it is reachable and has an index to be read by. A reference in
** the registry would do as well, but would allocate.
*/
static void stand (tg_Capture *c, tg_Object *o, int under) {
  TG_STACK_GUARD(c->L);
  if (!lua_checkstack(c->L, 8)) {
    o->cut = true;              /* then it is only named */
    return;
  }
  c->pushed = true;
  lua_pushvalue(c->L, -1);
  lua_insert(c->L, -1 - under);
  o->index = lua_gettop(c->L) - under;
  TG_STACK_LEFT(c->L, 1);
}

/* A class name is what the metatable on top of the stack says, raw; NULL if it
   says none. Leaves one value above it. */
TG_INLINE const char *class_name (lua_State *L, size_t *size) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, TG_KEY_NAME);
  return (lua_rawget(L, -2) == LUA_TSTRING) ? lua_tolstring(L, -1, size)
                                            : NULL;
}

/* Asks the metatable on top of the stack; pops it and what was asked. The text
   is used after that: the metatable holds the string, and nothing of the
   program can change it before this list is complete. */
static TG_NOINLINE void ask_class (tg_Capture *c, tg_Class *k) {
  TG_STACK_GUARD(c->L);
  k->capture = c->session->captures;
  k->name = class_name(c->L, &k->size);
  lua_pop(c->L, 2);
  TG_STACK_LEFT(c->L, -1);
}

/*
** The class that the metatable on top of the stack, which is popped, gives.
** Objects of few kinds come together in a list: their metatables are asked
** once.
*/
TG_INLINE void read_class (tg_Capture *c, tg_Object *o) {
  const void *meta = lua_topointer(c->L, -1);
  tg_Class *k = &c->session->classes[tg_address_hash(meta) % TG_CLASSES];
  if (k->meta == meta && k->capture == c->session->captures)
    lua_pop(c->L, 1);
  else {
    k->meta = meta;
    ask_class(c, k);
  }
  o->cls = k->name;
  o->cls_size = k->size;
}

/* Whether the table at 'i' holds anything. Not by lua_rawlen, which knows of
   sequences only. */
static bool has_content (lua_State *L, int i) {
  TG_STACK_GUARD(L);
  lua_pushnil(L);
  bool any = lua_next(L, (i < 0) ? i - 1 : i) != 0;
  if (any)
    lua_pop(L, 2);
  TG_STACK_CHECK(L);
  return any;
}

/*
** Class and whether there is more to it, of an object that is not listed: at
** stack index 'i'.
*/
TG_INLINE void examine_brief (tg_Capture *c, tg_Object *o, int i) {
  o->examined = o->brief = true;
  o->has_proto = false;
  o->cls = NULL;
  if (o->type == TG_OBJ_FUNCTION)
    o->function = tg_catalog_value(c->session, c->L, i);
  if (lua_getmetatable(c->L, i)) {
    o->cut = o->meta = true;
    read_class(c, o);
  }
  else if (o->type == TG_OBJ_TABLE)
    o->cut = has_content(c->L, i);
}

static uint32_t meet_listed (tg_Capture *c, int type, uint32_t level,
                             int under);

/*
** The pool index of the object on top of the stack, met at 'level' inside
** another one; TG_POOL_NONE if there is no room for it.
*/
TG_INLINE uint32_t meet (tg_Capture *c, int type, uint32_t level, int under) {
  if (level < c->limits->depth)
    return meet_listed(c, type, level, under);
  bool fresh;
  uint32_t id = enter(c, lua_topointer(c->L, -1), type, level, 0, &fresh);
  if (fresh)
    examine_brief(c, &c->pool->list[id], -1);
  return id;
}

/*
** Class and metatable of an object that is to be listed, at 'i', above 'under'
** values. The metatable has its own place in the pool; a chain of metatables,
** each of them listed, may be long.
*/
static void examine_listed (tg_Capture *c, uint32_t id, int i, int under) {
  tg_Object *o = &c->pool->list[id];
  uint32_t level = o->level + 1;
  o->examined = true;
  o->has_proto = false;
  o->cls = NULL;
  if (o->type == TG_OBJ_FUNCTION)
    o->function = tg_catalog_value(c->session, c->L, i);
  if (!lua_getmetatable(c->L, i))
    return;
  if (level >= c->limits->depth || lua_checkstack(c->L, 8)) {
    uint32_t proto = meet(c, LUA_TTABLE, level, under + 1);
    o = &c->pool->list[id];             /* the pool may have grown */
    o->proto = proto;
    o->has_proto = true;
  }
  else
    o->cut = o->meta = true;
  read_class(c, o);
}

/* An object that is to be listed, if it is a table, stands from now on. */
static TG_NOINLINE uint32_t meet_listed (tg_Capture *c, int type,
                                         uint32_t level, int under) {
  bool fresh;
  uint32_t id = enter(c, lua_topointer(c->L, -1), type, level, 0, &fresh);
  if (id == TG_POOL_NONE)
    return id;
  tg_Object *o = &c->pool->list[id];
  if (level < o->level)
    o->level = level;
  bool again = promote(o);
  if (o->type == TG_OBJ_TABLE && o->index == 0)
    stand(c, o, under);
  if (fresh || again)
    examine_listed(c, id, -1, under);
  return id;
}

/* ---- keys and values ---- */

/*
** A property's key or value, on top of the stack, which is not small; 'under'
** values stand there that must stay on top for lua_next.
*/
static TG_NOINLINE void put_large (tg_Capture *c, int type, uint32_t level,
                                   int under) {
  if (type == LUA_TSTRING) {
    size_t n;
    const char *s = lua_tolstring(c->L, -1, &n);
    put_text_value(c, s, n);
  }
  else if (type == LUA_TLIGHTUSERDATA && lua_touserdata(c->L, -1) == NULL) {
    if (room(c, ROOM))
      *c->p++ = TG_GRIP_NULL;
  }
  else
    put_object(c, meet(c, type, level, under), type);
}

/* A property's value of that type, on top of the stack; there is room. */
TG_INLINE void put_inner (tg_Capture *c, int type, uint32_t level,
                          int under) {
  uint8_t *p = put_small(c->L, -1, type, c->session->selection.plain, c->p);
  if (tg_likely(p != NULL))
    c->p = p;
  else
    put_large(c, type, level, under);
}

/* A key that is not small is met through a copy on top: key value key */
static TG_NOINLINE void put_large_key (tg_Capture *c, int type,
                                       uint32_t level) {
  TG_STACK_GUARD(c->L);
  lua_pushvalue(c->L, -2);
  put_large(c, type, level, 3);
  lua_pop(c->L, 1);
  LEFT(c, 0);
}

#define INTEGER_KEY (-2)        /* no type of Lua's */

/* The same of any type; 'k' is the key if it is an integer. There is room. */
TG_INLINE void put_key (tg_Capture *c, int type, lua_Integer k,
                        uint32_t level) {
  uint8_t *p = (type == INTEGER_KEY)
               ? put_integer(c->p, k)
               : put_small(c->L, -2, type, c->limits->string, c->p);
  if (tg_likely(p != NULL))
    c->p = p;
  else
    put_large_key(c, type, level);
}

/* ---- what a table holds ---- */

/* What is to be done about a property where something is hidden. */
typedef enum Veiled { SHOWN, HIDDEN, LEFT_OUT } Veiled;

/* Only names are secret: a pattern is matched with text, and a number is none.
   A key may be a secret itself, and then nothing is told of it. */
static TG_NOINLINE Veiled look_at_key (tg_Capture *c) {
  tg_Session *s = c->session;
  size_t n;
  if (lua_type(c->L, -2) != LUA_TSTRING)
    return SHOWN;
  const char *key = lua_tolstring(c->L, -2, &n);
  if (holds_secret(c, key, n)) {
    c->left_out = true;
    return LEFT_OUT;
  }
  if (!tg_selection_hides(&s->selection, key, n))
    return SHOWN;
  tg_veil_learn(s, c->L, lua_gettop(c->L));
  return HIDDEN;
}

/* Key and value on top of the stack. */
TG_INLINE void put_property (tg_Capture *c, int key_type, lua_Integer k,
                             uint32_t level) {
  Veiled veiled = c->redacts ? look_at_key(c) : SHOWN;
  if (veiled == LEFT_OUT || !room(c, 2 * SMALL_ROOM))
    return;
  put_key(c, key_type, k, level);
  if (!room(c, SMALL_ROOM))
    return;
  if (tg_likely(veiled == SHOWN))
    put_inner(c, lua_type(c->L, -1), level, 2);
  else
    *c->p++ = TG_GRIP_REDACTED;
}

/* Elements of the sequence from n + 1 on, fetched. Above 'under' values that a
   traversal needs on top. */
static void put_sequence (tg_Capture *c, tg_Listing *t, int under) {
  int type;
  TG_STACK_GUARD(c->L);
  while ((type = lua_rawgeti(c->L, t->i, t->n + 1)) != LUA_TNIL
         && affordable(c, t)) {
    t->n++;
    if (room(c, 2 * SMALL_ROOM)) {
      c->p = put_integer(c->p, t->n);
      put_inner(c, type, t->level, under + 1);
    }
    lua_pop(c->L, 1);
    if (c->p == NULL)
      return;
  }
  lua_pop(c->L, 1);
  LEFT(c, 0);
}

/* Whether the sequence, which is not empty, is more than will be listed. */
static bool is_long (const tg_Capture *c, const tg_Listing *t) {
  TG_STACK_GUARD(c->L);
  bool more = lua_rawgeti(c->L, t->i, (lua_Integer)c->limits->properties + 1)
              != LUA_TNIL;
  lua_pop(c->L, 1);
  TG_STACK_CHECK(c->L);
  return more;
}

/*
** Whether the integer key 'k' (0: another one) is to be passed over because the
** sequence has it already. The first key that is not the sequence's next one is
** where the rest of the sequence is looked for.
*/
static bool in_sequence (tg_Capture *c, tg_Listing *t, lua_Integer k) {
  if (t->in_order) {
    if (k == t->n + 1) {
      t->n++;
      return false;
    }
    t->in_order = false;
    put_sequence(c, t, 2);              /* key value */
  }
  return k >= 1 && k <= t->n;
}

/*
** From the nil on top of the stack, which is popped. A table's array part comes
** in order anyway; what of the sequence does not is fetched at the first other
** key.
*/
static void traverse (tg_Capture *c, tg_Listing *t) {
  lua_State *L = c->L;
  while (lua_next(L, t->i)) {
    int key_type = lua_type(L, -2);
    lua_Integer k = 0;
    if (key_type == LUA_TNUMBER && lua_isinteger(L, -2)) {
      k = lua_tointeger(L, -2);
      key_type = INTEGER_KEY;
    }
    if ((t->in_order || key_type == INTEGER_KEY) && in_sequence(c, t, k)) {
      lua_pop(L, 1);
      continue;
    }
    if (c->p == NULL || t->full || !affordable(c, t)) {
      lua_pop(L, 2);
      return;
    }
    put_property(c, key_type, k, t->level);
    lua_pop(L, 1);
  }
}

/* A table that has a sequence. To fetch elements is cheaper than to traverse
   them, but what else there is only a traversal tells. */
static TG_NOINLINE void put_array (tg_Capture *c, tg_Listing *t) {
  t->in_order = !is_long(c, t);
  if (!t->in_order) {
    put_sequence(c, t, 0);
    if (t->full || c->p == NULL)
      return;
  }
  lua_pushnil(c->L);
  traverse(c, t);
}

/* The sequence 1..n first, then the rest. */
static void put_properties (tg_Capture *c, tg_Listing *t) {
  TG_STACK_GUARD(c->L);
  if (lua_rawgeti(c->L, t->i, 1) == LUA_TNIL)
    traverse(c, t);             /* from this very nil */
  else {
    lua_pop(c->L, 1);
    put_array(c, t);
  }
  LEFT(c, 0);
}

/* ---- descriptors ---- */

static uint32_t put_class (tg_Capture *c, const tg_Object *o) {
  if (o->cls == NULL)
    return 0;
  put_string(c, o->cls, o->cls_size);
  return TG_DESC_CLASS;
}

static uint32_t put_proto (tg_Capture *c, const tg_Object *o) {
  if (!o->has_proto)
    return 0;
  put_object(c, o->proto, LUA_TTABLE);
  return TG_DESC_PROTO;
}

/* The properties of table 'o', which stands at its index and may move in the
   pool meanwhile. */
static TG_NOINLINE uint32_t put_table (tg_Capture *c, const tg_Object *o) {
  tg_Listing t = {o->index, o->level + 1, 0, 0, false, false};
  c->left_out = false;
  put_properties(c, &t);
  if (room(c, ROOM))
    *c->p++ = TG_GRIP_END;
  return TG_DESC_PROPS | (t.full || c->left_out ? TG_DESC_TRUNCATED : 0u);
}

/* One of the list's own values: looked at now, so that they come first. */
static TG_NOINLINE void examine_outer (tg_Capture *c, uint32_t id) {
  tg_Object *o = &c->pool->list[id];
  if (c->limits->depth > 0)
    examine_listed(c, id, o->index, 0);
  else
    examine_brief(c, o, o->index);
}

/* Type and flags come first and are known last: their two bytes are left
   free. */
static void put_descriptor (tg_Capture *c, uint32_t id) {
  if (!c->pool->list[id].examined)
    examine_outer(c, id);
  if (!room(c, ROOM))
    return;
  tg_Object *o = &c->pool->list[id];
  uint32_t flags = (o->cut ? TG_DESC_TRUNCATED : 0u)
                   | (o->meta ? TG_DESC_META : 0u);
  o->brief = false;             /* what is written stays so */
  uint8_t *head = c->p;
  c->p += 2;
  flags |= put_class(c, o);
  flags |= put_proto(c, o);
  if (o->type == TG_OBJ_FUNCTION)
    flags |= put_function(c, o->function);
  head[0] = o->type;
  if (o->type == TG_OBJ_TABLE && o->index != 0
      && o->level < c->limits->depth)
    flags |= put_table(c, o);
  head[1] = (uint8_t)flags;
}

/* In the order of their indices, which is that in which they were met: so what
   is listed meets others, which get the numbers after its own, and the loop
   ends when nobody is met any more. */
void tg_capture_pool (tg_Capture *c) {
  for (uint32_t id = 0; c->p != NULL && id < c->pool->count; id++)
    put_descriptor(c, id);
  tg_objectpool_clear(c->pool);
}

/* The class of the object at 'i', which has more to it: the metatable. */
TG_INLINE uint32_t put_brief_class (tg_Capture *c) {
  size_t n;
  TG_STACK_GUARD(c->L);
  const char *name = class_name(c->L, &n);
  if (name != NULL)
    put_string(c, name, n);
  lua_pop(c->L, 2);
  TG_STACK_LEFT(c->L, -1);
  return TG_DESC_TRUNCATED | ((name != NULL) ? TG_DESC_CLASS : 0u);
}

/* Without a pool: nothing of the object at 'i' is listed, so it meets no
   other. */
void tg_capture_brief (tg_Capture *c, int i) {
  uint8_t *head = c->p;
  uint32_t flags = 0;
  int type = lua_type(c->L, i);
  TG_STACK_GUARD(c->L);
  if (!room(c, ROOM))
    return;
  c->p += 2;
  if (lua_getmetatable(c->L, i))
    flags = put_brief_class(c) | TG_DESC_META;
  else if (type == LUA_TTABLE && has_content(c->L, i))
    flags = TG_DESC_TRUNCATED;
  if (type == LUA_TFUNCTION)
    flags |= put_function(c, tg_catalog_value(c->session, c->L, i));
  head[0] = (uint8_t)object_type(type);
  head[1] = (uint8_t)flags;
  TG_STACK_CHECK(c->L);
}
