/*
** replayvalues.c - see replayvalues.h. Lists, keys, properties and descriptors;
** replaygrips.c has the grips in them.
**
** Called by packetevents.c for each packet with values. Memory that it needs
** for a while is Lua's, so that an error on the way leaves nothing behind.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/replayvalues.h"
#include "client/replaygrips.h"
#include "stream/values.h"

/* A pool that says it is larger is cut: each number takes a descriptor, whether
   the packet has one or not. */
#define POOL_MAX (UINT32_C(1) << 20)
#define NO_OBJECT UINT32_MAX

/* A list on its way into bytes. */
typedef struct Writer {
  tg_ReplayGrips grips;
  const tg_ReplayValues *from;
  int pool;                 /* index of the pool */
} Writer;

/*
** {==================================================================
** Keys: those in brackets are as a Lua constructor has them
** ===================================================================
*/

/* Only the capitals that tg_terminal_escape writes. */
static int hex_digit (char c) {
  const char *digits = "0123456789ABCDEF";
  const char *at = c != '\0' ? strchr(digits, c) : NULL;
  return at != NULL ? (int)(at - digits) : -1;
}

/* What an escape of tg_terminal_escape stands for; moves on behind it. An
   escape that it never writes stands for itself. */
static char unescape (const char **p, const char *end) {
  char c = *(*p)++;
  if (c != '\\' || *p == end)
    return c;
  c = *(*p)++;
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'x':
      if (end - *p >= 2 && hex_digit((*p)[0]) >= 0 && hex_digit((*p)[1]) >= 0) {
        c = (char)(hex_digit((*p)[0]) << 4 | hex_digit((*p)[1]));
        *p += 2;
      }
      return c;
    default: return c;
  }
}

/* Unescaped text is not longer than it was. */
static void put_quoted (const Writer *w, const char *s, const char *end) {
  char *room = lua_newuserdatauv(w->grips.L, (size_t)(end - s) + 1, 0);
  size_t n = 0;
  while (s < end)
    room[n++] = unescape(&s, end);
  tg_replaygrips_string(&w->grips, room, n, n);
  lua_pop(w->grips.L, 1);
}

/* Notes what a key's words say of the pool's object 'id': of one with a class
   of its own, "[function 3]" as a key is the only place that tells its type. */
static void note_type (const Writer *w, uint32_t id, tg_ObjectType type) {
  static const uint8_t zeros[64];
  tg_Buf *b = w->from->types;
  while (b->size <= id && !b->failed)
    tg_buf_add(b, zeros, sizeof zeros);
  tg_assert(id < w->grips.objects);
  if (b->size > id)
    b->data[id] = (char)(type + 1);     /* 0: not told */
}

/* Whether a key has told the type of the pool's object 'id'. */
static bool noted_type (const Writer *w, uint32_t id, tg_ObjectType *type) {
  const tg_Buf *b = w->from->types;
  if (id >= b->size || b->data[id] == 0)
    return false;
  *type = (tg_ObjectType)(b->data[id] - 1);
  return true;
}

/* The pool's object that "table 3" means; NO_OBJECT if it means none. */
static uint32_t object_named (const Writer *w, const char *s) {
  for (int i = TG_OBJ_TABLE; i <= TG_OBJ_USERDATA; i++) {
    const char *name = tg_values_type_name((tg_ObjectType)i);
    size_t n = strlen(name);
    if (strncmp(s, name, n) == 0 && s[n] == ' ' && s[n + 1] >= '0'
        && s[n + 1] <= '9') {
      unsigned long id = strtoul(s + n + 1, NULL, 10);
      if (id >= w->grips.objects)
        return NO_OBJECT;
      note_type(w, (uint32_t)id, (tg_ObjectType)i);
      return (uint32_t)id;
    }
  }
  return NO_OBJECT;
}

/* A key that is an object: "[table 3]". False if the pool has no such
   object. */
static bool put_object_key (const Writer *w, const char *s) {
  uint32_t id = object_named(w, s);
  if (id != NO_OBJECT)
    tg_replaygrips_object(&w->grips, id);
  return id != NO_OBJECT;
}

/* What stands between brackets, zero-terminated; false if it means nothing.
   Numbers by lua_stringtonumber: they were written as Lua writes them. */
static bool put_bare_key (const Writer *w, const char *s) {
  if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0)
    tg_replaygrips_byte(&w->grips, *s == 't' ? TG_GRIP_TRUE : TG_GRIP_FALSE);
  else if (strcmp(s, "null") == 0)
    tg_replaygrips_byte(&w->grips, TG_GRIP_NULL);
  else if (strcmp(s, "math.huge") == 0)
    tg_replaygrips_float(&w->grips, (double)INFINITY);
  else if (strcmp(s, "-math.huge") == 0)
    tg_replaygrips_float(&w->grips, -(double)INFINITY);
  else if (lua_stringtonumber(w->grips.L, s) != 0)
    tg_replaygrips_top(&w->grips);
  else
    return put_object_key(w, s);
  return true;
}

/* A key without brackets is a name, one in brackets and quotes any other
   string. What stands in brackets and means nothing is kept as it is: better a
   strange key than none. */
static void put_key (const Writer *w, const char *s, size_t size) {
  if (size < 3 || s[0] != '[' || s[size - 1] != ']') {
    tg_replaygrips_string(&w->grips, s, size, size);
    return;
  }
  if (s[1] == '"' && s[size - 2] == '"' && size >= 4) {
    put_quoted(w, s + 2, s + size - 2);
    return;
  }
  lua_pushlstring(w->grips.L, s + 1, size - 2);
  bool known = put_bare_key(w, lua_tostring(w->grips.L, -1));
  lua_pop(w->grips.L, 1);
  if (!known)
    tg_replaygrips_string(&w->grips, s, size, size);
}

/* }================================================================== */

/*
** {==================================================================
** Properties, in an order: the sequence, then by name, then those with objects
** as these are in the pool. So the objects are met in the same order again, and
** keep their numbers.
** ===================================================================
*/

typedef struct Key {
  const char *s;            /* borrows from the table */
  size_t size;
  lua_Integer index;        /* of "[1]", "[2]"...; 0: another key */
  uint64_t object;          /* one more than that of the key, else of the
                               value; 0: neither is one */
} Key;

/* 20 bytes hold the longest integer that a key has, and its brackets. */
static lua_Integer index_of (const char *s, size_t size) {
  char *end;
  if (size < 3 || size > 20 || s[0] != '[' || s[1] < '1' || s[1] > '9')
    return 0;
  long long n = strtoll(s + 1, &end, 10);
  return end == s + size - 1 ? n : 0;
}

/* Never 0 for two keys of one table, so the order is the same in each run. */
static int compare (const void *pa, const void *pb) {
  const Key *a = pa, *b = pb;
  if ((a->index != 0) != (b->index != 0))
    return a->index != 0 ? -1 : 1;
  if (a->index != b->index)
    return a->index < b->index ? -1 : 1;
  if (a->object != b->object)
    return a->object < b->object ? -1 : 1;
  int order = memcmp(a->s, b->s, a->size < b->size ? a->size : b->size);
  return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* Counted first: the array of them is one userdata, which cannot grow. Lua's
   own count (#) tells only of sequences. */
static size_t count_keys (lua_State *L, int t) {
  size_t n = 0;
  for (lua_pushnil(L); lua_next(L, t); lua_pop(L, 1))
    n++;
  return n;
}

/* The object that the descriptor of a property on top of the stack has. */
static uint32_t object_in (const Writer *w) {
  lua_State *L = w->grips.L;
  lua_Integer id = -1;
  if (!lua_istable(L, -1))
    return NO_OBJECT;
  if (lua_getfield(L, -1, "value") == LUA_TTABLE) {
    int grip = lua_gettop(L);
    if (strcmp(tg_replaygrips_push(L, grip, "type", NULL), "object") == 0)
      id = tg_replaygrips_count(L, grip, "objectId");
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return id >= 0 && id < (lua_Integer)w->grips.objects ? (uint32_t)id
                                                       : NO_OBJECT;
}

/* A key that is an object comes before a value that is one: writers meet the
   key first. */
static uint64_t object_of (const Writer *w, const Key *k) {
  uint32_t id = k->s[0] == '[' ? object_named(w, k->s + 1) : NO_OBJECT;
  if (id == NO_OBJECT)
    id = object_in(w);
  return id != NO_OBJECT ? (uint64_t)id + 1 : 0;
}

/* Pushes the sorted string keys of the table at 't'; '*n' of them. JSON has no
   others; a decoded list has numbers, which are left out. */
static const Key *push_keys (const Writer *w, int t, size_t *n) {
  lua_State *L = w->grips.L;
  size_t all = count_keys(L, t);
  Key *keys = lua_newuserdatauv(L, (all + 1) * sizeof *keys, 0);
  *n = 0;
  for (lua_pushnil(L); lua_next(L, t); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      continue;
    Key *k = &keys[(*n)++];
    k->s = lua_tolstring(L, -2, &k->size);
    k->index = index_of(k->s, k->size);
    k->object = object_of(w, k);
  }
  qsort(keys, *n, sizeof *keys, compare);
  return keys;
}

/* Looks the key up again instead of keeping all values on Lua's stack: an
   object may have any number of properties. */
static void put_property (const Writer *w, int t, const Key *k) {
  put_key(w, k->s, k->size);
  lua_pushlstring(w->grips.L, k->s, k->size);
  if (lua_rawget(w->grips.L, t) == LUA_TTABLE)
    lua_getfield(w->grips.L, -1, "value");
  else
    lua_pushnil(w->grips.L);
  tg_replaygrips_top(&w->grips);
  lua_pop(w->grips.L, 1);
}

/* Those of the table on top of the stack, which is popped. */
static void put_properties (const Writer *w) {
  size_t n;
  int t = lua_gettop(w->grips.L);
  const Key *keys = push_keys(w, t, &n);
  for (size_t i = 0; i < n; i++)
    put_property(w, t, &keys[i]);
  tg_replaygrips_byte(&w->grips, TG_GRIP_END);
  lua_settop(w->grips.L, t - 1);
}

/* }================================================================== */

/*
** {==================================================================
** Descriptors
** ===================================================================
*/

/* Pops what it has looked at; the stack is as before. */
static bool is_table_field (lua_State *L, int i, const char *key) {
  bool is = lua_getfield(L, i, key) == LUA_TTABLE;
  lua_pop(L, 1);
  return is;
}

/* Whether there is one: an empty "ownProperties" says that none were listed, or
   that there are none, and both read back as no properties. */
static bool has_properties (lua_State *L, int i) {
  bool has = false;
  if (lua_getfield(L, i, "ownProperties") == LUA_TTABLE) {
    lua_pushnil(L);
    has = lua_next(L, -2) != 0;
    lua_pop(L, has ? 2 : 0);
  }
  lua_pop(L, 1);
  return has;
}

/* What is said of a metatable: that it is an object, or was left out. */
static unsigned prototype_flags (lua_State *L, int i) {
  unsigned flags = 0;
  if (lua_getfield(L, i, "prototype") == LUA_TTABLE) {
    int grip = lua_gettop(L);
    if (strcmp(tg_replaygrips_push(L, grip, "type", NULL), "object") == 0)
      flags = TG_DESC_PROTO;
    else if (tg_replaygrips_flag(L, grip, "truncated"))
      flags = TG_DESC_META;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return flags;
}

/* The names that classes in Lua have, rather than those in C: "Account". */
static bool is_capitalized (const char *cls) {
  bool is = *cls >= 'A' && *cls <= 'Z';
  for (; is && *cls != '\0'; cls++)
    is = (*cls >= 'A' && *cls <= 'Z') || (*cls >= 'a' && *cls <= 'z')
         || (*cls >= '0' && *cls <= '9');
  return is;
}

/* A descriptor does not say it of objects that have a class of their own: one
   without anything in it is a userdata rather, by its name. */
static tg_ObjectType object_type (const Writer *w, uint32_t id, int i,
                                  const char *cls, unsigned flags) {
  tg_ObjectType type;
  lua_State *L = w->grips.L;
  if (flags & TG_DESC_FUNCTION)
    return TG_OBJ_FUNCTION;
  if ((flags & TG_DESC_CLASS) == 0)
    return tg_replaygrips_type(cls);
  if (noted_type(w, id, &type))
    return type;
  if (flags & (TG_DESC_PROPS | TG_DESC_TRUNCATED))
    return TG_OBJ_TABLE;
  return is_table_field(L, i, "ownProperties") && !is_capitalized(cls)
         ? TG_OBJ_USERDATA : TG_OBJ_TABLE;
}

/* Whether a class is the name of a type, which all objects without a class of
   their own have. */
static bool is_type (const char *cls) {
  return tg_replaygrips_type(cls) != TG_OBJ_TABLE || strcmp(cls, "table") == 0;
}

/* The descriptor's flags (values.h). A function is told by its parameters: only
   descriptors of functions have the field. */
static unsigned flags_of (lua_State *L, int i, const char *cls) {
  return (is_type(cls) ? 0u : TG_DESC_CLASS)
         | prototype_flags(L, i)
         | (is_table_field(L, i, "parameterNames") ? TG_DESC_FUNCTION : 0u)
         | (has_properties(L, i) ? TG_DESC_PROPS : 0u)
         | (tg_replaygrips_flag(L, i, "truncated") ? TG_DESC_TRUNCATED : 0u);
}

/* A prototype can only be an object, known or not. */
static void put_prototype (const Writer *w, int i) {
  lua_getfield(w->grips.L, i, "prototype");
  tg_replaygrips_reference(&w->grips, lua_gettop(w->grips.L));
  lua_pop(w->grips.L, 1);
}

/* The descriptor at 'i', of the pool's object 'id'. */
static void put_descriptor (const Writer *w, uint32_t id, int i) {
  size_t size;
  lua_State *L = w->grips.L;
  const char *cls = tg_replaygrips_push(L, i, "class", &size);
  unsigned flags = flags_of(L, i, cls);
  tg_replaygrips_byte(&w->grips, object_type(w, id, i, cls, flags));
  tg_replaygrips_byte(&w->grips, flags);
  if (flags & TG_DESC_CLASS)
    tg_replaygrips_string(&w->grips, cls, size, size);
  lua_pop(L, 1);
  if (flags & TG_DESC_PROTO)
    put_prototype(w, i);
  if (flags & TG_DESC_FUNCTION)
    tg_replaygrips_var(&w->grips, w->from->function(L, i, w->from->ud));
  if (flags & TG_DESC_PROPS) {
    lua_getfield(L, i, "ownProperties");
    put_properties(w);
  }
}

/* A descriptor for every number, of an empty table where the packet has none:
   grips refer to them by place. */
static void put_pool (const Writer *w) {
  for (uint32_t i = 1; i <= w->grips.objects; i++) {
    tg_assert(lua_gettop(w->grips.L) >= w->pool);
    if (lua_rawgeti(w->grips.L, w->pool, i) != LUA_TTABLE) {
      lua_pop(w->grips.L, 1);
      lua_newtable(w->grips.L);
    }
    put_descriptor(w, i - 1, lua_gettop(w->grips.L));
    lua_pop(w->grips.L, 1);
  }
}

/* }================================================================== */

/* The values of the list at 'i'; of one that was cut there were more. Readers
   take TG_VALUES_MAX at most, so no more are written, and the count tells that
   there were. */
static void put_values (const Writer *w, int i, bool cut) {
  lua_Unsigned n = lua_rawlen(w->grips.L, i);
  lua_Unsigned most = n < TG_VALUES_MAX ? n : TG_VALUES_MAX;
  tg_replaygrips_var(&w->grips, n + (cut && n >= TG_VALUES_MAX));
  for (lua_Unsigned k = 1; k <= most; k++) {
    lua_rawgeti(w->grips.L, i, (lua_Integer)k);
    tg_replaygrips_top(&w->grips);
  }
}

/* A completion or the arguments of a call. The pool is found first: grips refer
   to it, and only those that it has are good. */
void tg_replayvalues_list (lua_State *L, const tg_ReplayValues *g) {
  Writer w = {.grips = {.out = g->out, .L = L}, .from = g};
  int at = lua_gettop(L);
  luaL_checkstack(L, 20, NULL);
  tg_buf_clear(g->types);
  if (lua_getfield(L, at, "objectPool") == LUA_TTABLE) {
    lua_Unsigned n = lua_rawlen(L, -1);
    w.grips.objects = n < POOL_MAX ? (uint32_t)n : POOL_MAX;
  }
  w.pool = at + 1;
  if (lua_getfield(L, at, "values") == LUA_TTABLE)
    put_values(&w, at + 2, tg_replaygrips_flag(L, at, "truncated"));
  else {
    tg_replaygrips_var(&w.grips, 1);
    lua_getfield(L, at, "value");
    tg_replaygrips_top(&w.grips);
  }
  put_pool(&w);
  tg_assert(lua_gettop(L) >= at);
  lua_settop(L, at);
}
