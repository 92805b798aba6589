/*
** luasink.c - Lua tables from the outside in.
**
** On the stack, from 'base' on: the open containers, each but the innermost
** followed by the key (objects) it is to be stored under:
**
**     outer  "key"  middle  inner  "key"
**                   (array)
**
** Called by whoever writes a document, on the thread of the state that is to
** have it. Raises what Lua raises; what has been built by then is garbage.
*/
#include "binding/luasink.h"

#include <lauxlib.h>
#include <string.h>

/* Each level takes two slots and stays there until it is closed, so room is
   asked for at each step. */
static lua_State *state (tg_Sink *s) {
  lua_State *L = ((tg_LuaSink *)(void *)s)->L;
  tg_assert(lua_gettop(L) >= ((tg_LuaSink *)(void *)s)->base);
  luaL_checkstack(L, 4, "document too deep");
  return L;
}

/* The value on top is complete: [-1 or -2, +0] unless it is the document. An
   array's values stand right on their table, an object's on a key: what is
   below the value tells which it is, for no key is a table. */
static void store (tg_Sink *s, lua_State *L) {
  if (lua_gettop(L) == ((tg_LuaSink *)(void *)s)->base + 1)
    return;
  if (lua_type(L, -2) == LUA_TTABLE)    /* ... array value */
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  else {                                /* ... object key value */
    tg_assert(lua_istable(L, -3));
    lua_rawset(L, -3);
  }
}

/* Objects and arrays are tables alike until something is put in: an empty array
   is an empty table in Lua. */
static void lua_object (tg_Sink *s) {
  lua_newtable(state(s));
}

static void lua_array (tg_Sink *s) {
  lua_newtable(state(s));
}

/* The innermost container is complete, and is stored as any value. */
static void lua_closing (tg_Sink *s) {
  store(s, state(s));
}

static void lua_key (tg_Sink *s, const char *k, size_t size) {
  lua_pushlstring(state(s), k, size);
}

/* A word of the protocol is kept as JSON has it, "key": with its quotes and
   the colon. */
static void lua_word (tg_Sink *s, const tg_Word *k) {
  lua_key(s, k->text + 2, k->size - 4);       /* between the quotes */
}

static void lua_string (tg_Sink *s, const char *v, size_t size) {
  lua_State *L = state(s);
  lua_pushlstring(L, v, size);
  store(s, L);
}

static void lua_integer (tg_Sink *s, int64_t v) {
  lua_State *L = state(s);
  lua_pushinteger(L, v);
  store(s, L);
}

static void lua_float (tg_Sink *s, double v) {
  lua_State *L = state(s);
  lua_pushnumber(L, v);
  store(s, L);
}

static void lua_bool (tg_Sink *s, bool v) {
  lua_State *L = state(s);
  lua_pushboolean(L, v);
  store(s, L);
}

/* One of a name and a string, or several of a name and a flag: see sink.h. */
static void lua_member (tg_Sink *s, const tg_Member *m) {
  if (m->name != NULL) {
    lua_key(s, m->name, strlen(m->name));
    lua_string(s, m->value, strlen(m->value));
    return;
  }
  for (size_t i = 0; i < sizeof m->flags / sizeof *m->flags; i++) {
    lua_key(s, m->flags[i].name, strlen(m->flags[i].name));
    lua_bool(s, m->flags[i].value);
  }
}

/* Milliseconds with all digits: JSON's writer rounds, a program may
   compute. */
static void lua_ms (tg_Sink *s, uint64_t ns) {
  lua_float(s, (double)ns / 1e6);
}

void tg_luasink_init (tg_LuaSink *s, lua_State *L) {
  static const tg_Sink sink = {
    lua_object, lua_array, lua_closing, lua_key, lua_word, lua_member,
    lua_string, lua_integer, lua_float, lua_bool, lua_ms
  };
  s->sink = sink;
  s->L = L;
  s->base = lua_gettop(L);
}
