/*
** Breadth first: the values themselves, then, in order of their pool index,
** the descriptors of the objects met. So an object's level is its distance,
** and an argument is listed as an argument even if it was met inside another
** one first.
**
** While values are captured, an object that is still to be listed stands on
** the Lua stack; what is only named (class and identity) does not.
*/
#include <string.h>

#include "value.h"
#include "define.h"
#include "event.h"
#include "session.h"

#define ROOM 32                 /* bytes any grip but a long string fits in */

/* What parts of a packet may come to in JSON, generously. */
#define COST_OBJECT 256u
#define COST_PROPERTY 128u
#define COST_PER_BYTE 6u        /* a control character, escaped */

typedef struct Capture {
  tg_Session *session;
  lua_State *L;
  const tg_Limits *limits;
  tg_Pool *pool;
  uint8_t *p, *lim;             /* p == NULL: the room was too small */
  uint32_t cost;
  bool in_stream;               /* strings before this one can be referred to */
  bool refers;                  /* and have been */
} Capture;

TG_INLINE bool spend (Capture *c, uint32_t cost) {
  if (c->cost + cost > TG_PACKET_MAX)
    return false;
  c->cost += cost;
  return true;
}

/* Room for one small thing. */
TG_INLINE bool room (Capture *c, size_t need) {
  if (tg_likely(c->p != NULL && (size_t)(c->lim - c->p) >= need))
    return true;
  c->p = NULL;
  return false;
}

/* ---- scalars ---- */

static uint8_t *put_integer (uint8_t *p, lua_Integer i) {
  if (i >= 0 && i <= TG_GRIP_SMALLMAX) {
    *p = (uint8_t)(TG_GRIP_SMALLINT + i);
    return p + 1;
  }
  *p = TG_GRIP_INT;
  return tg_putvar(p + 1, ((uint64_t)i << 1) ^ (uint64_t)(i >> 63));
}

static uint8_t *put_number (lua_State *L, int i, uint8_t *p) {
  if (lua_isinteger(L, i))
    return put_integer(p, lua_tointeger(L, i));
  lua_Number n = lua_tonumber(L, i);
  *p = TG_GRIP_FLOAT;
  memcpy(p + 1, &n, sizeof n);
  return p + 1 + sizeof n;
}

/* Most strings are names: two overlapping words are faster than a call. */
TG_INLINE uint8_t *put_smallstr (uint8_t *p, const char *s, size_t n) {
  *p++ = (uint8_t)(TG_GRIP_SMALLSTR + n);
  if (n > 16)
    memcpy(p, s, n);
  else if (n >= 8) {
    memcpy(p, s, 8);
    memcpy(p + n - 8, s + n - 8, 8);
  }
  else if (n >= 4) {
    memcpy(p, s, 4);
    memcpy(p + n - 4, s + n - 4, 4);
  }
  else {
    for (size_t i = 0; i < n; i++)
      p[i] = (uint8_t)s[i];
  }
  return p + n;
}

static tg_Written *written (const Capture *c, const char *s) {
  return &c->session->recorder.written[tg_address_hash(s) % TG_WRITTEN];
}

/* The string captured at 'bytes', whose grip begins at the writing position. */
static void remember (Capture *c, const char *s, size_t n,
                      const uint8_t *bytes, size_t kept) {
  if (!c->in_stream)
    return;
  *written(c, s) = (tg_Written){
    s, n, c->p, bytes, (uint32_t)kept, c->session->recorder.epoch
  };
}

/*
** Documents are handed from function to function. A string that was captured
** in this epoch and has not changed since (another may have its address) is
** referred to.
*/
static bool put_again (Capture *c, const char *s, size_t n, size_t kept) {
  const tg_Written *w = written(c, s);
  if (w->string != s || w->size != n || w->kept != kept
      || w->epoch != c->session->recorder.epoch || !c->in_stream
      || memcmp(w->bytes, s, kept) != 0)
    return false;
  if (room(c, ROOM)) {
    *c->p = TG_GRIP_STRAGAIN;
    c->p = tg_putvar(c->p + 1, (uint64_t)(c->p - w->grip));
    c->refers = true;
  }
  return true;
}

static void put_longstr (Capture *c, const char *s, size_t n) {
  size_t kept = (n < c->limits->string) ? n : c->limits->string;
  size_t affordable = (TG_PACKET_MAX - c->cost) / COST_PER_BYTE;
  if (kept > affordable)
    kept = affordable;
  c->cost += (uint32_t)(kept * COST_PER_BYTE);
  if (put_again(c, s, n, kept) || !room(c, kept + ROOM))
    return;
  uint8_t *p = c->p;
  *p++ = TG_GRIP_STRING;
  p = tg_putvar(p, n);
  p = tg_putvar(p, kept);
  memcpy(p, s, kept);
  remember(c, s, n, p, kept);
  c->p = p + kept;
}

static void put_bytes (Capture *c, const char *s, size_t n) {
  if (n <= TG_GRIP_SMALLMAX && n <= c->limits->string) {
    if (room(c, ROOM + TG_GRIP_SMALLMAX))
      c->p = put_smallstr(c->p, s, n);
  }
  else
    put_longstr(c, s, n);
}

static void put_string (Capture *c, int i) {
  size_t n;
  const char *s = lua_tolstring(c->L, i, &n);
  put_bytes(c, s, n);
}

/* ---- objects ---- */

static void examine (Capture *c, uint32_t id, int i, int under);

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
static void stand (Capture *c, tg_Object *o, int under) {
  if (!lua_checkstack(c->L, 8)) {
    o->cut = true;              /* then it is only named */
    return;
  }
  lua_pushvalue(c->L, -1);
  lua_insert(c->L, -1 - under);
  o->index = lua_gettop(c->L) - under;
}

/* The pool index of an object; '*o' is its entry if it is '*fresh'. */
static uint32_t enter (Capture *c, const void *address, int type,
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
static uint32_t meet (Capture *c, int type, uint32_t level, int under) {
  bool fresh;
  uint32_t id = enter(c, lua_topointer(c->L, -1), type, &fresh);
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
static void read_class (Capture *c, tg_Object *o) {
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
static void examine (Capture *c, uint32_t id, int i, int under) {
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

static void put_object (Capture *c, uint32_t id, int type) {
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

/* ---- grips ---- */

/* Anything but an object: true if 'type' was one of these. */
TG_INLINE bool put_scalar (Capture *c, int i, int type) {
  if (tg_unlikely(!room(c, ROOM + TG_GRIP_SMALLMAX)))
    return true;
  switch (type) {
    case LUA_TNUMBER:
      c->p = put_number(c->L, i, c->p);
      return true;
    case LUA_TSTRING:
      put_string(c, i);
      return true;
    case LUA_TBOOLEAN:
      *c->p++ = lua_toboolean(c->L, i) ? TG_GRIP_TRUE : TG_GRIP_FALSE;
      return true;
    case LUA_TNIL: case LUA_TNONE:
      *c->p++ = TG_GRIP_NIL;
      return true;
    default:
      return false;
  }
}

/*
** A property's key or value, on top of the stack; 'under' values stand there
** that must stay on top for lua_next.
*/
static TG_NOINLINE void put_inner_object (Capture *c, int type,
                                          uint32_t level, int under) {
  if (type == LUA_TLIGHTUSERDATA && lua_touserdata(c->L, -1) == NULL)
    *c->p++ = TG_GRIP_NULL;
  else
    put_object(c, meet(c, type, level, under), type);
}

TG_INLINE void put_inner (Capture *c, uint32_t level, int under) {
  int type = lua_type(c->L, -1);
  if (!put_scalar(c, -1, type))
    put_inner_object(c, type, level, under);
}

/*
** One of the values of the list, at stack index 'i', where it stays. Whether
** it has a metatable is looked at later, so that arguments come first.
*/
static void put_outer (Capture *c, int i) {
  int type = lua_type(c->L, i);
  if (put_scalar(c, i, type))
    return;
  if (type == LUA_TLIGHTUSERDATA && lua_touserdata(c->L, i) == NULL) {
    *c->p++ = TG_GRIP_NULL;
    return;
  }
  bool fresh;
  uint32_t id = enter(c, lua_topointer(c->L, i), type, &fresh);
  if (fresh)
    c->pool->list[id].index = i;
  put_object(c, id, type);
}

/* ---- descriptors ---- */

static bool secret_key (Capture *c) {
  const tg_Demand *d = &c->session->demand;
  size_t n;
  if (lua_type(c->L, -2) != LUA_TSTRING)
    return false;
  const char *key = lua_tolstring(c->L, -2, &n);
  return tg_demand_hides(d, key, n);
}

/* A key that is an object is met through a copy on top: key value key */
static TG_NOINLINE void put_object_key (Capture *c, int type,
                                        uint32_t level) {
  lua_pushvalue(c->L, -2);
  put_inner_object(c, type, level, 3);
  lua_pop(c->L, 1);
}

#define INTEGER_KEY (-2)        /* no type of Lua's */

/* Key and value on top of the stack; 'k' is the key if it is an integer. */
TG_INLINE void put_property (Capture *c, int key_type, lua_Integer k,
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

TG_INLINE bool affordable (Capture *c, Listing *t) {
  if (t->listed >= c->limits->properties || !spend(c, COST_PROPERTY))
    t->full = true;
  else
    t->listed++;
  return !t->full;
}

/* What of the sequence lives among the other keys. Key and value of the
   traversal are on top of the stack. */
static void put_sequence (Capture *c, Listing *t) {
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
static bool in_sequence (Capture *c, Listing *t, lua_Integer k) {
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
static void put_properties (Capture *c, Listing *t) {
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

static uint32_t put_class (Capture *c, const tg_Object *o) {
  if (o->cls == NULL)
    return 0;
  put_bytes(c, o->cls, o->cls_size);
  return TG_DESC_CLASS;
}

static uint32_t put_proto (Capture *c, const tg_Object *o) {
  if (!o->has_proto)
    return 0;
  put_object(c, o->proto, LUA_TTABLE);
  return TG_DESC_PROTO;
}

static uint32_t put_function (Capture *c, const tg_Object *o) {
  if (o->function == 0 || !room(c, ROOM))
    return 0;
  c->p = tg_putvar(c->p, o->function);
  return TG_DESC_FUNCTION;
}

static uint32_t put_table (Capture *c, const tg_Object *o) {
  if (o->type != TG_OBJ_TABLE)
    return 0;
  if (o->index == 0 || o->level >= c->limits->depth)
    return 0;
  Listing t = {o->index, o->level + 1, 0, 0, true, false};
  put_properties(c, &t);
  if (room(c, ROOM))
    *c->p++ = TG_GRIP_END;
  return TG_DESC_PROPS | (t.full ? TG_DESC_TRUNCATED : 0u);
}

/* One of the list's own values: looked at now, so that they come first. */
static void examine_outer (Capture *c, uint32_t id) {
  tg_Object *o = &c->pool->list[id];
  int i = o->index;
  if (o->type == TG_OBJ_FUNCTION)
    o->function = tg_define_value(c->session, c->L, i);
  examine(c, id, i, 0);
}

static void put_descriptor (Capture *c, uint32_t id) {
  if (!c->pool->list[id].examined)
    examine_outer(c, id);
  tg_Object o = c->pool->list[id];      /* a copy: the pool may grow */
  if (!room(c, ROOM))
    return;
  *c->p++ = o.type;
  size_t flags_at = (size_t)(c->lim - c->p++);
  uint32_t flags = put_class(c, &o);
  flags |= put_proto(c, &o);
  flags |= put_function(c, &o);
  flags |= put_table(c, &o);
  flags |= o.cut ? TG_DESC_TRUNCATED : 0u;
  if (c->p != NULL)
    *(c->lim - flags_at) = (uint8_t)flags;
}

/* ---- lists ---- */

/* What is begun again will be written over. */
static void forget (tg_Recorder *r) {
  memset(r->written, 0, sizeof r->written);
}

static bool secret_parameter (Capture *c, const tg_Function *f, int i) {
  return f != NULL && i < f->nparams && f->params != NULL
         && tg_demand_secret(&c->session->demand, f->params[i]);
}

static void put_fixed (Capture *c, const tg_ValueList *list, int n) {
  for (int i = 0; i < n && c->p != NULL; i++) {
    if (tg_unlikely(secret_parameter(c, list->secrets, i))) {
      if (room(c, ROOM))
        *c->p++ = TG_GRIP_REDACTED;
    }
    else
      put_outer(c, list->first + i);
  }
}

/* Extra arguments have no stack index: what is an object stays pushed. */
static void put_varargs (Capture *c, const tg_ValueList *list, int n) {
  for (int i = 1; i <= n && c->p != NULL; i++) {
    if (lua_getlocal(c->L, list->ar, -i) == NULL) {
      if (room(c, ROOM))
        *c->p++ = TG_GRIP_NIL;
      continue;
    }
    put_outer(c, lua_gettop(c->L));
    if (lua_type(c->L, -1) < LUA_TTABLE
        && lua_type(c->L, -1) != LUA_TLIGHTUSERDATA)
      lua_pop(c->L, 1);
  }
}

static void put_list (Capture *c, const tg_ValueList *list) {
  int total = list->count + list->varargs;
  int fixed = list->count, extra = list->varargs;
  if (fixed > TG_VALUES_MAX)
    fixed = TG_VALUES_MAX;
  if (extra > TG_VALUES_MAX - fixed)
    extra = TG_VALUES_MAX - fixed;
  if (!room(c, ROOM))
    return;
  c->p = tg_putvar(c->p + 4, (uint64_t)total);
  put_fixed(c, list, fixed);
  if (extra > 0) {
    if (lua_checkstack(c->L, extra + 8))
      put_varargs(c, list, extra);
    else
      c->p = NULL;
  }
}

static TG_NOINLINE uint8_t *put_any (tg_Session *s, lua_State *L,
                                     const tg_ValueList *list, uint8_t *p,
                                     uint8_t *lim) {
  Capture c = {.session = s, .L = L, .limits = &s->demand.limits,
               .pool = &s->pool, .p = p, .lim = lim,
               .in_stream = lim == s->recorder.lim};
  int top = lua_gettop(L);
  s->captures++;
  put_list(&c, list);
  for (uint32_t id = 0; c.p != NULL && id < c.pool->count; id++)
    put_descriptor(&c, id);
  if (c.pool->count > 0) {
    tg_pool_clear(c.pool);
    lua_settop(L, top);
  }
  if (c.p != NULL)
    tg_put32(p, (uint32_t)(c.p - p - 4) | (c.refers ? TG_VALUES_REFERS : 0u));
  else
    forget(&s->recorder);
  return c.p;
}

/*
** Most lists are a few numbers, short strings and booleans: no pool, no state.
** NULL if there is anything else in it.
*/
static uint8_t *put_simple (lua_State *L, const tg_ValueList *list,
                            uint32_t limit, uint8_t *p) {
  uint8_t *start = p;
  p += 4;
  *p++ = (uint8_t)list->count;
  for (int i = list->first; i < list->first + list->count; i++) {
    size_t n;
    const char *s;
    switch (lua_type(L, i)) {
      case LUA_TNUMBER:
        p = put_number(L, i, p);
        break;
      case LUA_TSTRING:
        s = lua_tolstring(L, i, &n);
        if (n > TG_GRIP_SMALLMAX || n > limit)
          return NULL;
        p = put_smallstr(p, s, n);
        break;
      case LUA_TBOOLEAN:
        *p++ = lua_toboolean(L, i) ? TG_GRIP_TRUE : TG_GRIP_FALSE;
        break;
      case LUA_TNIL:
        *p++ = TG_GRIP_NIL;
        break;
      default:
        return NULL;
    }
  }
  tg_put32(start, (uint32_t)(p - start - 4));
  return p;
}

#define SIMPLE_COUNT 6
#define SIMPLE_ROOM (16u + SIMPLE_COUNT * (TG_GRIP_SMALLMAX + 1))

uint8_t *tg_value_list (tg_Session *s, lua_State *L, const tg_ValueList *list,
                        uint8_t *p, uint8_t *lim) {
  if (list->count <= SIMPLE_COUNT && list->varargs == 0
      && list->secrets == NULL && (size_t)(lim - p) >= SIMPLE_ROOM) {
    uint8_t *end = put_simple(L, list, s->demand.limits.string, p);
    if (tg_likely(end != NULL))
      return end;
  }
  return put_any(s, L, list, p, lim);
}

uint8_t *tg_value_text (const char *text, size_t size, uint32_t limit,
                        uint8_t *p, uint8_t *lim) {
  uint8_t *start = p;
  size_t kept = (size < limit) ? size : limit;
  if ((size_t)(lim - p) < kept + ROOM)
    return NULL;
  p = tg_putvar(p + 4, 1);
  *p++ = TG_GRIP_STRING;
  p = tg_putvar(p, size);
  p = tg_putvar(p, kept);
  memcpy(p, text, kept);
  p += kept;
  tg_put32(start, (uint32_t)(p - start - 4));
  return p;
}
