/*
** console.c - makes a table of what is said, and keeps it in a ring. Called by
** the console's functions and by the agent, on the program's thread, outside of
** the hook. Only memory that Lua refuses raises.
**
** Messages are kept even while no debugger is attached: one that comes later is
** shown the last ones, as V8 does it. They are made here and not by the agent,
** so that a program that nobody looks at pays one microsecond for each and
** not seven.
*/
#include "inspect/console.h"

#define KEPT 1000u                      /* messages, and bytes of strings in */
#define KEPT_BYTES ((size_t)10 << 20)   /* them: V8's limits */

static const char key_shelf = 0;  /* registry: the messages, in a ring */

/*
** {==================================================================
** The shelf
** ===================================================================
*/

void tg_console_take (tg_Inspector *i, lua_State *L) {
  if (i->taken == i->said) {
    lua_pushnil(L);
    return;
  }
  lua_Integer at = (lua_Integer)(i->taken++ % KEPT) + 1;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key_shelf);
  lua_rawgeti(L, -1, at);
  lua_pushnil(L);
  lua_rawseti(L, -3, at);
  lua_remove(L, -2);
  tg_assert(lua_istable(L, -1));
  lua_getfield(L, -1, "bytes");
  i->shelved -= (size_t)lua_tointeger(L, -1);
  lua_pop(L, 1);
}

/* The message on top, which is taken off the stack. */
static void put (tg_Inspector *i, lua_State *L, size_t bytes) {
  i->shelved += bytes;
  while (i->said - i->taken >= KEPT
         || (i->shelved > KEPT_BYTES && i->taken < i->said)) {
    tg_console_take(i, L);
    lua_pop(L, 1);
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key_shelf);
  lua_insert(L, -2);
  lua_rawseti(L, -2, (lua_Integer)(i->said % KEPT) + 1);
  lua_pop(L, 1);
  i->said++;
}

/* }================================================================== */

/*
** {==================================================================
** Messages
** ===================================================================
*/

double tg_console_now (void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void set_string (lua_State *L, const char *name, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, name);
}

static void set_integer (lua_State *L, const char *name, lua_Integer n) {
  lua_pushinteger(L, n);
  lua_setfield(L, -2, name);
}

/* Who has called the console's function, which is at level 0. */
static void set_place (lua_State *L) {
  lua_Debug ar;
  if (!lua_getstack(L, 1, &ar))
    return;
  lua_getinfo(L, "nSl", &ar);
  set_string(L, "name", ar.name);
  set_string(L, "what", ar.what);
  lua_pushlstring(L, ar.source, ar.srclen);
  lua_setfield(L, -2, "source");
  set_integer(L, "currentline", ar.currentline);
  set_integer(L, "linedefined", ar.linedefined);
}

/* Pushes the message that the stack's values make; the bytes in it. */
static size_t push_message (lua_State *L, const char *method) {
  int n = lua_gettop(L);
  size_t bytes = 0;
  luaL_checkstack(L, 4, NULL);
  lua_createtable(L, n, 12);
  for (int k = 1; k <= n; k++) {
    bytes += (lua_type(L, k) == LUA_TSTRING) ? (size_t)lua_rawlen(L, k) : 0;
    lua_pushvalue(L, k);
    lua_rawseti(L, -2, k);
  }
  set_integer(L, "n", n);
  set_integer(L, "bytes", (lua_Integer)bytes);
  set_string(L, "method", method);
  lua_pushnumber(L, tg_console_now());
  lua_setfield(L, -2, "time");
  return bytes;
}

void tg_console_keep (tg_Inspector *i, lua_State *L, const char *method) {
  size_t bytes = push_message(L, method);
  if (!i->wants.console)
    set_place(L);
  put(i, L, bytes);
}

/* }================================================================== */

void tg_console_setup (lua_State *L) {
  lua_createtable(L, (int)KEPT, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_shelf);
}

void tg_console_clear (lua_State *L) {
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_shelf);
}
