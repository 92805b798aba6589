#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/replayvalues.h"
#include "stream/event.h"
#include "stream/values.h"

#define POOL_MAX (UINT32_C(1) << 20)
#define NO_OBJECT UINT32_MAX

/* A list on its way. */
typedef struct Writer {
  tg_Buf *out;
  const tg_ReplayValues *g;
  lua_State *L;
  int pool;                 /* index of the pool */
  uint32_t objects;         /* in it */
} Writer;

static void put_grip (const Writer *w, int i);

/*
** {==================================================================
** Bytes
** ===================================================================
*/

static void put_byte (const Writer *w, unsigned tag) {
  tg_buf_addchar(w->out, (char)tag);
}

static void put_var (const Writer *w, uint64_t v) {
  uint8_t room[10];
  uint8_t *end = tg_putvar(room, v);
  tg_buf_add(w->out, room, (size_t)(end - room));
}

static void put_int (const Writer *w, int64_t i) {
  if (i >= 0 && i <= TG_GRIP_SMALLMAX) {
    put_byte(w, TG_GRIP_SMALLINT | (unsigned)i);
    return;
  }
  put_byte(w, TG_GRIP_INT);
  put_var(w, (uint64_t)i << 1 ^ (i < 0 ? UINT64_MAX : 0));    /* zigzag */
}

static void put_float (const Writer *w, double f) {
  put_byte(w, TG_GRIP_FLOAT);
  tg_buf_add(w->out, &f, sizeof f);
}

/* A string of 'length' bytes of which 'size' are known. */
static void put_string (const Writer *w, const char *s, size_t size,
                        uint64_t length) {
  if (length < size)
    length = size;
  put_byte(w, TG_GRIP_STRING);
  put_var(w, length);
  put_var(w, size);
  tg_buf_add(w->out, s, size);
}

static void put_object (const Writer *w, uint32_t id) {
  put_byte(w, TG_GRIP_OBJECT);
  put_var(w, id);
}

/* }================================================================== */

/*
** {==================================================================
** Grips
** ===================================================================
*/

static const char *const type_names[] = {"table", "function", "thread",
                                         "userdata"};

static tg_ObjectType type_of (const char *cls) {
  for (int i = TG_OBJ_TABLE; i <= TG_OBJ_USERDATA; i++) {
    if (strcmp(cls, type_names[i]) == 0)
      return (tg_ObjectType)i;
  }
  return TG_OBJ_TABLE;
}

/* A field of the table at 'i' as a string, "" if it is none; pushes it. */
static const char *push_string (lua_State *L, int i, const char *key,
                                size_t *size) {
  if (lua_getfield(L, i, key) != LUA_TSTRING) {
    lua_pop(L, 1);
    lua_pushliteral(L, "");
  }
  return lua_tolstring(L, -1, size);
}

/* A field that is a whole number from 0 on; -1 if it is none. */
static lua_Integer count_field (lua_State *L, int i, const char *key) {
  int ok;
  lua_getfield(L, i, key);
  lua_Integer n = lua_tointegerx(L, -1, &ok);
  lua_pop(L, 1);
  return ok && n >= 0 ? n : -1;
}

static bool flag_field (lua_State *L, int i, const char *key) {
  lua_getfield(L, i, key);
  bool b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

/* The pool's entry for a grip that was cut is not of this object only. */
static void put_reference (const Writer *w, int i) {
  lua_Integer id = count_field(w->L, i, "objectId");
  if (id >= 0 && id < (lua_Integer)w->objects
      && !flag_field(w->L, i, "truncated")) {
    put_object(w, (uint32_t)id);
    return;
  }
  put_byte(w, TG_GRIP_NOROOM);
  put_byte(w, type_of(push_string(w->L, i, "class", NULL)));
  lua_pop(w->L, 1);
}

static void put_bigint (const Writer *w, int i) {
  push_string(w->L, i, "text", NULL);
  lua_Integer n = lua_tointeger(w->L, -1);
  put_int(w, n);
  lua_pop(w->L, 1);
}

static void put_long (const Writer *w, int i) {
  size_t size;
  lua_Integer length = count_field(w->L, i, "length");
  const char *s = push_string(w->L, i, "initial", &size);
  put_string(w, s, size, length > 0 ? (uint64_t)length : 0);
  lua_pop(w->L, 1);
}

static int digit64 (char c) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c != '\0' ? strchr(digits, c) : NULL;
  return at != NULL ? (int)(at - digits) : -1;
}

/* Base64 at 's' into 'out', up to what is no digit; how many bytes. */
static size_t decode64 (const char *s, size_t size, char *out) {
  uint32_t bits = 0;
  unsigned have = 0;
  size_t n = 0;
  for (size_t i = 0; i < size && digit64(s[i]) >= 0; i++) {
    bits = bits << 6 | (uint32_t)digit64(s[i]);
    have += 6;
    if (have >= 8) {
      have -= 8;
      out[n++] = (char)(bits >> have);
    }
  }
  return n;
}

static void put_bytes (const Writer *w, int i) {
  size_t size;
  lua_Integer length = count_field(w->L, i, "length");
  const char *s = push_string(w->L, i, "initial", &size);
  char *room = lua_newuserdatauv(w->L, size + 1, 0);
  size = decode64(s, size, room);
  put_string(w, room, size, length > 0 ? (uint64_t)length : 0);
  lua_pop(w->L, 2);
}

static void put_nil (const Writer *w, int i) {
  (void)i;
  put_byte(w, TG_GRIP_NIL);
}

static void put_null (const Writer *w, int i) {
  (void)i;
  put_byte(w, TG_GRIP_NULL);
}

static void put_redacted (const Writer *w, int i) {
  (void)i;
  put_byte(w, TG_GRIP_REDACTED);
}

static void put_nan (const Writer *w, int i) {
  (void)i;
  put_float(w, (double)NAN);
}

static void put_infinity (const Writer *w, int i) {
  (void)i;
  put_float(w, (double)INFINITY);
}

static void put_minus_infinity (const Writer *w, int i) {
  (void)i;
  put_float(w, -(double)INFINITY);
}

static void put_minus_zero (const Writer *w, int i) {
  (void)i;
  put_float(w, -0.0);
}

/* A grip that is a table, by its type. */
static void put_typed (const Writer *w, int i) {
  static const struct {
    const char *name;
    void (*put) (const Writer *w, int i);
  } types[] = {
    {"object", put_reference}, {"undefined", put_nil}, {"null", put_null},
    {"longString", put_long}, {"redacted", put_redacted},
    {"BigInt", put_bigint}, {"bytes", put_bytes}, {"NaN", put_nan},
    {"Infinity", put_infinity}, {"-Infinity", put_minus_infinity},
    {"-0", put_minus_zero}
  };
  const char *name = push_string(w->L, i, "type", NULL);
  size_t k = 0, n = sizeof types / sizeof types[0];
  while (k < n && strcmp(types[k].name, name) != 0)
    k++;
  lua_pop(w->L, 1);
  if (k < n)
    types[k].put(w, i);
  else
    put_nil(w, i);
}

/* The value at 'i', an absolute index. */
static void put_grip (const Writer *w, int i) {
  lua_State *L = w->L;
  size_t size;
  const char *s;
  switch (lua_type(L, i)) {
    case LUA_TBOOLEAN:
      put_byte(w, lua_toboolean(L, i) ? TG_GRIP_TRUE : TG_GRIP_FALSE);
      break;
    case LUA_TNUMBER:
      if (lua_isinteger(L, i))
        put_int(w, lua_tointeger(L, i));
      else
        put_float(w, lua_tonumber(L, i));
      break;
    case LUA_TSTRING:
      s = lua_tolstring(L, i, &size);
      put_string(w, s, size, size);
      break;
    case LUA_TTABLE: put_typed(w, i); break;
    default: put_nil(w, i); break;
  }
}

static void put_top (const Writer *w) {
  put_grip(w, lua_gettop(w->L));
  lua_pop(w->L, 1);
}

/* }================================================================== */

/*
** {==================================================================
** Keys: those in brackets are as a Lua constructor has them
** ===================================================================
*/

static int hex_digit (char c) {
  const char *digits = "0123456789ABCDEF";
  const char *at = c != '\0' ? strchr(digits, c) : NULL;
  return at != NULL ? (int)(at - digits) : -1;
}

/* What an escape of tg_terminal_escape stands for; moves on behind it. */
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

static void put_quoted (const Writer *w, const char *s, const char *end) {
  char *room = lua_newuserdatauv(w->L, (size_t)(end - s) + 1, 0);
  size_t n = 0;
  while (s < end)
    room[n++] = unescape(&s, end);
  put_string(w, room, n, n);
  lua_pop(w->L, 1);
}

/* Notes what a key's words say of the pool's object 'id'. */
static void note_type (const Writer *w, uint32_t id, tg_ObjectType type) {
  static const uint8_t zeros[64];
  tg_Buf *b = w->g->types;
  while (b->size <= id && !b->failed)
    tg_buf_add(b, zeros, sizeof zeros);
  if (b->size > id)
    b->data[id] = (char)(type + 1);
}

/* Whether a key has told the type. */
static bool noted_type (const Writer *w, uint32_t id, tg_ObjectType *type) {
  const tg_Buf *b = w->g->types;
  if (id >= b->size || b->data[id] == 0)
    return false;
  *type = (tg_ObjectType)(b->data[id] - 1);
  return true;
}

/* The pool's object that "table 3" means; NO_OBJECT if it means none. */
static uint32_t object_named (const Writer *w, const char *s) {
  for (int i = TG_OBJ_TABLE; i <= TG_OBJ_USERDATA; i++) {
    size_t n = strlen(type_names[i]);
    if (strncmp(s, type_names[i], n) == 0 && s[n] == ' '
        && s[n + 1] >= '0' && s[n + 1] <= '9') {
      unsigned long id = strtoul(s + n + 1, NULL, 10);
      if (id >= w->objects)
        return NO_OBJECT;
      note_type(w, (uint32_t)id, (tg_ObjectType)i);
      return (uint32_t)id;
    }
  }
  return NO_OBJECT;
}

static bool put_object_key (const Writer *w, const char *s) {
  uint32_t id = object_named(w, s);
  if (id != NO_OBJECT)
    put_object(w, id);
  return id != NO_OBJECT;
}

/* What stands between brackets, zero-terminated; false if it means nothing. */
static bool put_bare_key (const Writer *w, const char *s) {
  if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0)
    put_byte(w, *s == 't' ? TG_GRIP_TRUE : TG_GRIP_FALSE);
  else if (strcmp(s, "null") == 0)
    put_byte(w, TG_GRIP_NULL);
  else if (strcmp(s, "math.huge") == 0)
    put_float(w, (double)INFINITY);
  else if (strcmp(s, "-math.huge") == 0)
    put_float(w, -(double)INFINITY);
  else if (lua_stringtonumber(w->L, s) != 0)
    put_top(w);
  else
    return put_object_key(w, s);
  return true;
}

static void put_key (const Writer *w, const char *s, size_t size) {
  if (size < 3 || s[0] != '[' || s[size - 1] != ']') {
    put_string(w, s, size, size);
    return;
  }
  if (s[1] == '"' && s[size - 2] == '"' && size >= 4) {
    put_quoted(w, s + 2, s + size - 2);
    return;
  }
  lua_pushlstring(w->L, s + 1, size - 2);
  bool known = put_bare_key(w, lua_tostring(w->L, -1));
  lua_pop(w->L, 1);
  if (!known)
    put_string(w, s, size, size);
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

static lua_Integer index_of (const char *s, size_t size) {
  char *end;
  if (size < 3 || size > 20 || s[0] != '[' || s[1] < '1' || s[1] > '9')
    return 0;
  long long n = strtoll(s + 1, &end, 10);
  return end == s + size - 1 ? n : 0;
}

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

static size_t count_keys (lua_State *L, int t) {
  size_t n = 0;
  for (lua_pushnil(L); lua_next(L, t); lua_pop(L, 1))
    n++;
  return n;
}

/* The object that the descriptor of a property on top of the stack has. */
static uint32_t object_in (const Writer *w) {
  lua_State *L = w->L;
  lua_Integer id = -1;
  if (!lua_istable(L, -1))
    return NO_OBJECT;
  if (lua_getfield(L, -1, "value") == LUA_TTABLE) {
    int grip = lua_gettop(L);
    if (strcmp(push_string(L, grip, "type", NULL), "object") == 0)
      id = count_field(L, grip, "objectId");
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return id >= 0 && id < (lua_Integer)w->objects ? (uint32_t)id : NO_OBJECT;
}

static uint64_t object_of (const Writer *w, const Key *k) {
  uint32_t id = k->s[0] == '[' ? object_named(w, k->s + 1) : NO_OBJECT;
  if (id == NO_OBJECT)
    id = object_in(w);
  return id != NO_OBJECT ? (uint64_t)id + 1 : 0;
}

/* Pushes the sorted string keys of the table at 't'; '*n' of them. */
static const Key *push_keys (const Writer *w, int t, size_t *n) {
  lua_State *L = w->L;
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

static void put_property (const Writer *w, int t, const Key *k) {
  put_key(w, k->s, k->size);
  lua_pushlstring(w->L, k->s, k->size);
  if (lua_rawget(w->L, t) == LUA_TTABLE)
    lua_getfield(w->L, -1, "value");
  else
    lua_pushnil(w->L);
  put_top(w);
  lua_pop(w->L, 1);
}

/* Those of the table on top of the stack, which is popped. */
static void put_properties (const Writer *w) {
  size_t n;
  int t = lua_gettop(w->L);
  const Key *keys = push_keys(w, t, &n);
  for (size_t i = 0; i < n; i++)
    put_property(w, t, &keys[i]);
  put_byte(w, TG_GRIP_END);
  lua_settop(w->L, t - 1);
}

/* }================================================================== */

/*
** {==================================================================
** Descriptors
** ===================================================================
*/

static bool is_table_field (lua_State *L, int i, const char *key) {
  bool is = lua_getfield(L, i, key) == LUA_TTABLE;
  lua_pop(L, 1);
  return is;
}

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
    if (strcmp(push_string(L, grip, "type", NULL), "object") == 0)
      flags = TG_DESC_PROTO;
    else if (flag_field(L, grip, "truncated"))
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
  lua_State *L = w->L;
  if (flags & TG_DESC_FUNCTION)
    return TG_OBJ_FUNCTION;
  if ((flags & TG_DESC_CLASS) == 0)
    return type_of(cls);
  if (noted_type(w, id, &type))
    return type;
  if (flags & (TG_DESC_PROPS | TG_DESC_TRUNCATED))
    return TG_OBJ_TABLE;
  return is_table_field(L, i, "ownProperties") && !is_capitalized(cls)
         ? TG_OBJ_USERDATA : TG_OBJ_TABLE;
}

static bool is_type (const char *cls) {
  return type_of(cls) != TG_OBJ_TABLE || strcmp(cls, "table") == 0;
}

static unsigned flags_of (lua_State *L, int i, const char *cls) {
  return (is_type(cls) ? 0u : TG_DESC_CLASS)
         | prototype_flags(L, i)
         | (is_table_field(L, i, "parameterNames") ? TG_DESC_FUNCTION : 0u)
         | (has_properties(L, i) ? TG_DESC_PROPS : 0u)
         | (flag_field(L, i, "truncated") ? TG_DESC_TRUNCATED : 0u);
}

/* A prototype can only be an object, known or not. */
static void put_prototype (const Writer *w, int i) {
  lua_getfield(w->L, i, "prototype");
  put_reference(w, lua_gettop(w->L));
  lua_pop(w->L, 1);
}

/* The descriptor at 'i', of the pool's object 'id'. */
static void put_descriptor (const Writer *w, uint32_t id, int i) {
  size_t size;
  lua_State *L = w->L;
  const char *cls = push_string(L, i, "class", &size);
  unsigned flags = flags_of(L, i, cls);
  put_byte(w, object_type(w, id, i, cls, flags));
  put_byte(w, flags);
  if (flags & TG_DESC_CLASS)
    put_string(w, cls, size, size);
  lua_pop(L, 1);
  if (flags & TG_DESC_PROTO)
    put_prototype(w, i);
  if (flags & TG_DESC_FUNCTION)
    put_var(w, w->g->function(L, i, w->g->ud));
  if (flags & TG_DESC_PROPS) {
    lua_getfield(L, i, "ownProperties");
    put_properties(w);
  }
}

static void put_pool (const Writer *w) {
  for (uint32_t i = 1; i <= w->objects; i++) {
    if (lua_rawgeti(w->L, w->pool, i) != LUA_TTABLE) {
      lua_pop(w->L, 1);
      lua_newtable(w->L);
    }
    put_descriptor(w, i - 1, lua_gettop(w->L));
    lua_pop(w->L, 1);
  }
}

/* }================================================================== */

/* The values of the list at 'i'; of one that was cut there were more. */
static void put_values (const Writer *w, int i, bool cut) {
  lua_Unsigned n = lua_rawlen(w->L, i);
  lua_Unsigned most = n < TG_VALUES_MAX ? n : TG_VALUES_MAX;
  put_var(w, n + (cut && n >= TG_VALUES_MAX));
  for (lua_Unsigned k = 1; k <= most; k++) {
    lua_rawgeti(w->L, i, (lua_Integer)k);
    put_top(w);
  }
}

void tg_replay_value (lua_State *L, const tg_ReplayValues *g) {
  Writer w = {.out = g->out, .g = g, .L = L};
  int at = lua_gettop(L);
  luaL_checkstack(L, 20, NULL);
  tg_buf_clear(g->types);
  if (lua_getfield(L, at, "objectPool") == LUA_TTABLE) {
    lua_Unsigned n = lua_rawlen(L, -1);
    w.objects = n < POOL_MAX ? (uint32_t)n : POOL_MAX;
  }
  w.pool = at + 1;
  if (lua_getfield(L, at, "values") == LUA_TTABLE)
    put_values(&w, at + 2, flag_field(L, at, "truncated"));
  else {
    put_var(&w, 1);
    lua_getfield(L, at, "value");
    put_top(&w);
  }
  put_pool(&w);
  lua_settop(L, at);
}
