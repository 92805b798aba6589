/*
** replaygrips.c - see replaygrips.h. For replayvalues.c.
**
** What is no grip, or says what cannot be, becomes nil or is bounded: the
** tables may come from anybody. Without memory the output's 'failed' is set;
** what Lua raises goes through.
*/
#include "client/replaygrips.h"

#include <math.h>
#include <string.h>

#include "stream/event.h"

/*
** {==================================================================
** Bytes
** ===================================================================
*/

void tg_replaygrips_byte (const tg_ReplayGrips *w, unsigned tag) {
  tg_buf_addchar(w->out, (char)tag);
}

void tg_replaygrips_var (const tg_ReplayGrips *w, uint64_t v) {
  uint8_t room[10];
  uint8_t *end = tg_putvar(room, v);
  tg_buf_add(w->out, room, (size_t)(end - room));
}

/* As the hook writes them (values.h): small ones are in their tag, others
   zigzag, so that what is near 0 on either side is short. */
static void put_int (const tg_ReplayGrips *w, int64_t i) {
  if (i >= 0 && i <= TG_GRIP_SMALLMAX) {
    tg_replaygrips_byte(w, TG_GRIP_SMALLINT | (unsigned)i);
    return;
  }
  tg_replaygrips_byte(w, TG_GRIP_INT);
  uint64_t zigzag = (uint64_t)i << 1 ^ (i < 0 ? UINT64_MAX : 0);
  tg_replaygrips_var(w, zigzag);
}

/* In the bytes of this machine, as the hook writes them: a recording tells its
   byte order. */
void tg_replaygrips_float (const tg_ReplayGrips *w, double f) {
  tg_replaygrips_byte(w, TG_GRIP_FLOAT);
  tg_buf_add(w->out, &f, sizeof f);
}

/* A length that is less than what there is cannot be: readers rely on it. */
void tg_replaygrips_string (const tg_ReplayGrips *w, const char *s, size_t size,
                            uint64_t length) {
  if (length < size)
    length = size;
  tg_replaygrips_byte(w, TG_GRIP_STRING);
  tg_replaygrips_var(w, length);
  tg_replaygrips_var(w, size);
  tg_buf_add(w->out, s, size);
}

void tg_replaygrips_object (const tg_ReplayGrips *w, uint32_t id) {
  tg_replaygrips_byte(w, TG_GRIP_OBJECT);
  tg_replaygrips_var(w, id);
}

/* }================================================================== */

/*
** {==================================================================
** Grips
** ===================================================================
*/

/* A class of its own, "Account", is of no type: mostly it is a table. */
tg_ObjectType tg_replaygrips_type (const char *cls) {
  for (int i = TG_OBJ_TABLE; i <= TG_OBJ_USERDATA; i++) {
    if (strcmp(cls, tg_values_type_name((tg_ObjectType)i)) == 0)
      return (tg_ObjectType)i;
  }
  return TG_OBJ_TABLE;
}

/* Always pushes one string, so that its caller pops one whatever there was. By
   lua_getfield: tables are the decoder's, without metatables. */
const char *tg_replaygrips_push (lua_State *L, int i, const char *key,
                                 size_t *size) {
  if (lua_getfield(L, i, key) != LUA_TSTRING) {
    lua_pop(L, 1);
    lua_pushliteral(L, "");
  }
  return lua_tolstring(L, -1, size);
}

/* -1 for what is no count. A float with an integer's value is one: some JSON
   decoders make nothing but floats. */
lua_Integer tg_replaygrips_count (lua_State *L, int i, const char *key) {
  int ok;
  tg_assert(i > 0);             /* a relative one would be off by the push */
  lua_getfield(L, i, key);
  lua_Integer n = lua_tointegerx(L, -1, &ok);
  lua_pop(L, 1);
  return ok && n >= 0 ? n : -1;
}

bool tg_replaygrips_flag (lua_State *L, int i, const char *key) {
  lua_getfield(L, i, key);
  bool b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

/* The pool's entry for a grip that was cut is not of this object only. */
void tg_replaygrips_reference (const tg_ReplayGrips *w, int i) {
  lua_Integer id = tg_replaygrips_count(w->L, i, "objectId");
  if (id >= 0 && id < (lua_Integer)w->objects
      && !tg_replaygrips_flag(w->L, i, "truncated")) {
    tg_replaygrips_object(w, (uint32_t)id);
    return;
  }
  tg_replaygrips_byte(w, TG_GRIP_NOROOM);
  const char *cls = tg_replaygrips_push(w->L, i, "class", NULL);
  tg_replaygrips_byte(w, tg_replaygrips_type(cls));
  lua_pop(w->L, 1);
}

/* An integer that no double can hold comes as text; what does not fit in 64
   bits is none of Lua's, and becomes 0. */
static void put_bigint (const tg_ReplayGrips *w, int i) {
  tg_replaygrips_push(w->L, i, "text", NULL);   /* lua_tointeger converts */
  lua_Integer n = lua_tointeger(w->L, -1);
  put_int(w, n);
  lua_pop(w->L, 1);
}

/* 'length' is that of the whole string, of which 'initial' is the beginning. */
static void put_long (const tg_ReplayGrips *w, int i) {
  size_t size;
  lua_Integer length = tg_replaygrips_count(w->L, i, "length");
  const char *s = tg_replaygrips_push(w->L, i, "initial", &size);
  tg_replaygrips_string(w, s, size, length > 0 ? (uint64_t)length : 0);
  lua_pop(w->L, 1);
}

/* -1 for what is none: also the '=' at the end, which carries no bits. */
static int digit64 (char c) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c != '\0' ? strchr(digits, c) : NULL;
  return at != NULL ? (int)(at - digits) : -1;
}

/* Done by hand: only what is in 'initial' counts, and a wrong digit ends it.
   Base64 at 's' into 'out', up to what is no digit; how many bytes. */
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

/* A string that is no UTF-8. The room is a userdata, which Lua frees if
   anything raises; decoded text is shorter than what it is made of. */
static void put_bytes (const tg_ReplayGrips *w, int i) {
  size_t size;
  lua_Integer length = tg_replaygrips_count(w->L, i, "length");
  const char *s = tg_replaygrips_push(w->L, i, "initial", &size);
  char *room = lua_newuserdatauv(w->L, size + 1, 0);
  size = decode64(s, size, room);
  tg_replaygrips_string(w, room, size, length > 0 ? (uint64_t)length : 0);
  lua_pop(w->L, 2);
}

/* What a grip becomes that says nothing more than its type. */
typedef struct Plain {
  uint8_t tag;
  double number;            /* of TG_GRIP_FLOAT */
} Plain;

static void put_plain (const tg_ReplayGrips *w, Plain plain) {
  if (plain.tag == TG_GRIP_FLOAT)
    tg_replaygrips_float(w, plain.number);
  else
    tg_replaygrips_byte(w, plain.tag);
}

/* A grip that is a table, by its type. One that is not known, of a protocol
   newer than this, is nil: there is a value in its place at least. */
static void put_typed (const tg_ReplayGrips *w, int i) {
  static const struct {
    const char *name;
    void (*put) (const tg_ReplayGrips *w, int i);   /* NULL: it is plain */
    Plain plain;
  } types[] = {
    {"object", tg_replaygrips_reference, {0}},
    {"longString", put_long, {0}},
    {"BigInt", put_bigint, {0}},
    {"bytes", put_bytes, {0}},
    {"null", NULL, {TG_GRIP_NULL, 0}},
    {"redacted", NULL, {TG_GRIP_REDACTED, 0}},
    {"NaN", NULL, {TG_GRIP_FLOAT, (double)NAN}},
    {"Infinity", NULL, {TG_GRIP_FLOAT, (double)INFINITY}},
    {"-Infinity", NULL, {TG_GRIP_FLOAT, -(double)INFINITY}},
    {"-0", NULL, {TG_GRIP_FLOAT, -0.0}},
    {"undefined", NULL, {TG_GRIP_NIL, 0}}   /* last: so is what is unknown */
  };
  tg_assert(lua_istable(w->L, i));
  const char *name = tg_replaygrips_push(w->L, i, "type", NULL);
  size_t k = 0, last = sizeof types / sizeof types[0] - 1;
  while (k < last && strcmp(types[k].name, name) != 0)
    k++;
  lua_pop(w->L, 1);
  if (types[k].put != NULL)
    types[k].put(w, i);
  else
    put_plain(w, types[k].plain);
}

/* The value at 'i'. JSON's null is nil here if the packet was decoded by cjson:
   then it is a light userdata, which no grip is. */
static void put_grip (const tg_ReplayGrips *w, int i) {
  lua_State *L = w->L;
  size_t size;
  const char *s;
  bool yes = lua_toboolean(L, i);
  switch (lua_type(L, i)) {
    case LUA_TBOOLEAN:
      tg_replaygrips_byte(w, yes ? TG_GRIP_TRUE : TG_GRIP_FALSE);
      break;
    case LUA_TNUMBER:
      if (lua_isinteger(L, i))
        put_int(w, lua_tointeger(L, i));
      else
        tg_replaygrips_float(w, lua_tonumber(L, i));
      break;
    case LUA_TSTRING:
      s = lua_tolstring(L, i, &size);
      tg_replaygrips_string(w, s, size, size);
      break;
    case LUA_TTABLE: put_typed(w, i); break;
    default: tg_replaygrips_byte(w, TG_GRIP_NIL); break;
  }
}

void tg_replaygrips_top (const tg_ReplayGrips *w) {
  put_grip(w, lua_gettop(w->L));
  lua_pop(w->L, 1);
}

/* }================================================================== */
