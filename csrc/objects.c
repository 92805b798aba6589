/*
** objects.c - objects met while values are captured: identity, class, and what
** tables hold.
**
** An object that is still to be listed stands on the Lua stack; what is only
** named (class and identity) does not.
*/
#include "capture.h"
#include "define.h"

static void examine (tg_Capture *c, uint32_t id, int i, int under);

static tg_ObjectType object_type (int type) {
  switch (type) {
    case LUA_TTABLE: return TG_OBJ_TABLE;
    case LUA_TFUNCTION: return TG_OBJ_FUNCTION;
    case LUA_TTHREAD: return TG_OBJ_THREAD;
    default: return TG_OBJ_USERDATA;
  }
}

/*
** Makes the object on top of the stack stand: a copy goes 'under' values below
** the top, out of the way of lua_next.
*/
static void stand (tg_Capture *c, tg_Object *o, int under) {
  if (!lua_checkstack(c->L, 8)) {
    o->cut = true;              /* then it is only named */
    return;
  }
  lua_pushvalue(c->L, -1);
  lua_insert(c->L, -1 - under);
  o->index = lua_gettop(c->L) - under;
}

/* The pool index of an object; '*o' is its entry if it is '*fresh'. */
uint32_t tg_capture_enter (tg_Capture *c, const void *address, int type,
                           bool *fresh) {
  uint32_t max = c->limits->objects;
  if (c->cost + COST_OBJECT > TG_PACKET_MAX)
    max = 0;                    /* only those that are there already */
  uint32_t id = tg_pool_enter(c->pool, address, max, fresh);
  if (*fresh) {
    c->cost += COST_OBJECT;
    c->pool->list[id].type = (uint8_t)object_type(type);
  }
  return id;
}

/*
** The pool index of the object on top of the stack, met at 'level';
** TG_POOL_NONE if there is no room for it.
*/
static uint32_t meet (tg_Capture *c, int type, uint32_t level, int under) {
  bool fresh;
  uint32_t id = tg_capture_enter(c, lua_topointer(c->L, -1), type, &fresh);
  if (id == TG_POOL_NONE)
    return id;
  tg_Object *o = &c->pool->list[id];
  if (fresh || level < o->level)
    o->level = level;
  if (level < c->limits->depth && o->type == TG_OBJ_TABLE && o->index == 0)
    stand(c, o, under);
  if (fresh) {
    if (type == LUA_TFUNCTION)
      o->function = tg_define_value(c->session, c->L, -1);
    examine(c, id, -1, under);
  }
  return id;
}

/*
** A class name is what the metatable on top of the stack says, raw. Objects of
** few kinds come together in a list: their metatables are asked once.
*/
static void read_class (tg_Capture *c, tg_Object *o) {
  lua_State *L = c->L;
  const void *meta = lua_topointer(L, -1);
  tg_Class *k = &c->session->classes[tg_address_hash(meta) % TG_CLASSES];
  if (k->meta != meta || k->capture != c->session->captures) {
    k->meta = meta;
    k->capture = c->session->captures;
    k->name = NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_strings);
    if (lua_rawget(L, -2) == LUA_TSTRING)
      k->name = lua_tolstring(L, -1, &k->size);
    lua_pop(L, 1);
  }
  o->cls = k->name;
  o->cls_size = k->size;
}

/* Whether the table at 'i' holds anything. */
static bool has_content (lua_State *L, int i) {
  i = lua_absindex(L, i);
  lua_pushnil(L);
  if (!lua_next(L, i))
    return false;
  lua_pop(L, 2);
  return true;
}

/*
** Class and, of an object that is to be listed, the metatable of the object at
** 'i', above 'under' values. A metatable's own metatable is examined by meet in
** turn. What is not listed is cut if there is anything.
*/
static void examine (tg_Capture *c, uint32_t id, int i, int under) {
  tg_Object *o = &c->pool->list[id];
  bool listed = o->level < c->limits->depth;
  o->examined = true;
  if (!lua_getmetatable(c->L, i)) {
    o->cut = !listed && o->type == TG_OBJ_TABLE && has_content(c->L, i);
    return;
  }
  read_class(c, o);
  if (!listed)
    o->cut = true;
  else if (lua_checkstack(c->L, 8)) {
    uint32_t proto = meet(c, LUA_TTABLE, o->level + 1, under + 1);
    o = &c->pool->list[id];             /* the pool may have grown */
    o->proto = proto;
    o->has_proto = true;
  }
  lua_pop(c->L, 1);
}

void tg_capture_object (tg_Capture *c, uint32_t id, int type) {
  if (!room(c, ROOM))
    return;
  if (id == TG_POOL_NONE) {
    *c->p++ = TG_GRIP_NOROOM;
    *c->p++ = (uint8_t)object_type(type);
  }
  else if (id <= TG_GRIP_SMALLMAX)
    *c->p++ = (uint8_t)(TG_GRIP_SMALLOBJ + id);
  else {
    *c->p++ = TG_GRIP_OBJECT;
    c->p = tg_putvar(c->p, id);
  }
}

/* ---- keys and values ---- */

/*
** A property's key or value, on top of the stack; 'under' values stand there
** that must stay on top for lua_next.
*/
static TG_NOINLINE void put_inner_object (tg_Capture *c, int type,
                                          uint32_t level, int under) {
  if (type == LUA_TLIGHTUSERDATA && lua_touserdata(c->L, -1) == NULL)
    *c->p++ = TG_GRIP_NULL;
  else
    tg_capture_object(c, meet(c, type, level, under), type);
}

TG_INLINE void put_inner (tg_Capture *c, uint32_t level, int under) {
  int type = lua_type(c->L, -1);
  if (!put_scalar(c, -1, type))
    put_inner_object(c, type, level, under);
}

/* ---- descriptors ---- */

static bool secret_key (tg_Capture *c) {
  const tg_Demand *d = &c->session->demand;
  size_t n;
  if (lua_type(c->L, -2) != LUA_TSTRING)
    return false;
  const char *key = lua_tolstring(c->L, -2, &n);
  return tg_demand_hides(d, key, n);
}

/* A key that is an object is met through a copy on top: key value key */
static TG_NOINLINE void put_object_key (tg_Capture *c, int type,
                                        uint32_t level) {
  lua_pushvalue(c->L, -2);
  put_inner_object(c, type, level, 3);
  lua_pop(c->L, 1);
}

#define INTEGER_KEY (-2)        /* no type of Lua's */

/* Key and value on top of the stack; 'k' is the key if it is an integer. */
TG_INLINE void put_property (tg_Capture *c, int key_type, lua_Integer k,
                             uint32_t level) {
  bool secret = c->session->demand.redacts && secret_key(c);
  if (key_type == INTEGER_KEY) {
    if (room(c, ROOM))
      c->p = put_integer(c->p, k);
  }
  else if (!put_scalar(c, -2, key_type))
    put_object_key(c, key_type, level);
  if (tg_likely(!secret))
    put_inner(c, level, 2);
  else if (room(c, ROOM))
    *c->p++ = TG_GRIP_REDACTED;
}

/* The state of listing one table: at stack index 'i'. */
typedef struct Listing {
  int i;
  uint32_t level;       /* of what its properties hold */
  uint32_t listed;      /* properties so far */
  lua_Integer n;        /* length of the sequence so far */
  bool in_order;        /* only the sequence has come so far */
  bool full;            /* a limit was reached */
} Listing;

TG_INLINE bool affordable (tg_Capture *c, Listing *t) {
  if (t->listed >= c->limits->properties || !spend(c, COST_PROPERTY))
    t->full = true;
  else
    t->listed++;
  return !t->full;
}

/* What of the sequence lives among the other keys. Key and value of the
   traversal are on top of the stack. */
static void put_sequence (tg_Capture *c, Listing *t) {
  lua_State *L = c->L;
  while (lua_rawgeti(L, t->i, t->n + 1) != LUA_TNIL && affordable(c, t)) {
    t->n++;
    if (room(c, ROOM))
      c->p = put_integer(c->p, t->n);
    put_inner(c, t->level, 3);          /* key value element */
    lua_pop(L, 1);
    if (c->p == NULL)
      return;
  }
  lua_pop(L, 1);
}

/*
** Whether the integer key 'k' (0: another one) is to be passed over because the
** sequence has it already. The first key that is not the sequence's next one is
** where the rest of the sequence is looked for.
*/
static bool in_sequence (tg_Capture *c, Listing *t, lua_Integer k) {
  if (t->in_order) {
    if (k == t->n + 1) {
      t->n++;
      return false;
    }
    t->in_order = false;
    put_sequence(c, t);
  }
  return k >= 1 && k <= t->n;
}

/*
** The sequence 1..n first, then the rest. A table's array part comes in order
** anyway; what of the sequence does not is fetched at the first other key.
*/
static void put_properties (tg_Capture *c, Listing *t) {
  lua_State *L = c->L;
  lua_pushnil(L);
  while (lua_next(L, t->i)) {
    int key_type = lua_type(L, -2);
    bool integer = key_type == LUA_TNUMBER && lua_isinteger(L, -2);
    lua_Integer k = integer ? lua_tointeger(L, -2) : 0;
    if ((t->in_order || integer) && in_sequence(c, t, k)) {
      lua_pop(L, 1);
      continue;
    }
    if (c->p == NULL || t->full || !affordable(c, t)) {
      lua_pop(L, 2);
      return;
    }
    put_property(c, integer ? INTEGER_KEY : key_type, k, t->level);
    lua_pop(L, 1);
  }
}

static uint32_t put_class (tg_Capture *c, const tg_Object *o) {
  if (o->cls == NULL)
    return 0;
  tg_capture_string(c, o->cls, o->cls_size);
  return TG_DESC_CLASS;
}

static uint32_t put_proto (tg_Capture *c, const tg_Object *o) {
  if (!o->has_proto)
    return 0;
  tg_capture_object(c, o->proto, LUA_TTABLE);
  return TG_DESC_PROTO;
}

static uint32_t put_function (tg_Capture *c, const tg_Object *o) {
  if (o->function == 0 || !room(c, ROOM))
    return 0;
  c->p = tg_putvar(c->p, o->function);
  return TG_DESC_FUNCTION;
}

/* The properties of a table that stands at 'i'. */
static uint32_t put_table (tg_Capture *c, int i, uint32_t level) {
  Listing t = {i, level + 1, 0, 0, true, false};
  put_properties(c, &t);
  if (room(c, ROOM))
    *c->p++ = TG_GRIP_END;
  return TG_DESC_PROPS | (t.full ? TG_DESC_TRUNCATED : 0u);
}

/* One of the list's own values: looked at now, so that they come first. */
static void examine_outer (tg_Capture *c, uint32_t id) {
  tg_Object *o = &c->pool->list[id];
  int i = o->index;
  if (o->type == TG_OBJ_FUNCTION)
    o->function = tg_define_value(c->session, c->L, i);
  examine(c, id, i, 0);
}

void tg_capture_descriptor (tg_Capture *c, uint32_t id) {
  if (!c->pool->list[id].examined)
    examine_outer(c, id);
  if (!room(c, ROOM))
    return;
  const tg_Object *o = &c->pool->list[id];
  uint32_t flags = o->cut ? TG_DESC_TRUNCATED : 0u;
  *c->p++ = o->type;
  size_t flags_at = (size_t)(c->lim - c->p++);
  flags |= put_class(c, o);
  flags |= put_proto(c, o);
  flags |= put_function(c, o);
  if (o->type == TG_OBJ_TABLE && o->index != 0
      && o->level < c->limits->depth)
    flags |= put_table(c, o->index, o->level);  /* 'o' may move */
  if (c->p != NULL)
    *(c->lim - flags_at) = (uint8_t)flags;
}
