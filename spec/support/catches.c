/*
** catches.c - C functions that do with errors what those of Lua's own libraries
** do not: keep them to themselves, give another value for them, throw another.
*/
#include "lua.h"

#include "lauxlib.h"

/* The function at index 1 with the arguments after it; its status. */
static int protect (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  return lua_pcall(L, lua_gettop(L) - 1, 0, 0);
}

/* keep(f, ...): nothing, whatever happens. */
static int keep (lua_State *L) {
  protect(L);
  return 0;
}

/* answer(f, ...) -> true; or false, another value. */
static int answer (lua_State *L) {
  int status = protect(L);
  lua_pushboolean(L, status == LUA_OK);
  lua_pushliteral(L, "another value");
  return (status == LUA_OK) ? 1 : 2;
}

/* code(f, ...) -> nothing; or nil, the status. */
static int code (lua_State *L) {
  int status = protect(L);
  lua_pushnil(L);
  lua_pushinteger(L, status);
  return (status == LUA_OK) ? 0 : 2;
}

/* change(f, ...): an error becomes another one. */
static int change (lua_State *L) {
  return (protect(L) == LUA_OK) ? 0 : luaL_error(L, "another error");
}

/* pass(f, ...): an error goes on. */
static int pass (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_call(L, lua_gettop(L) - 1, 0);
  return 0;
}

/* handle(h, f, ...) -> nothing; or false, what the message handler returned. */
static int handle (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  if (lua_pcall(L, lua_gettop(L) - 2, 0, 1) == LUA_OK)
    return 0;
  lua_pushboolean(L, 0);
  lua_insert(L, -2);
  return 2;
}

/* serve(f, g): two events of a host, whatever the first comes to. */
static int serve (lua_State *L) {
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushvalue(L, 1);
  lua_pcall(L, 0, 0, 0);
  lua_settop(L, 2);
  lua_pushliteral(L, "event");
  lua_pushliteral(L, "secret");
  lua_pcall(L, 2, 0, 0);
  return 0;
}

/* close(object, f, ...): the object is closed without an error at the end,
   whatever f comes to. */
static int close_late (lua_State *L) {
  int n = lua_gettop(L) - 2;
  lua_toclose(L, 1);
  lua_pcall(L, n, 0, 0);
  return 0;
}

/* resume(co) -> its status; without the values. */
static int resume (lua_State *L) {
  int n;
  lua_State *co = lua_tothread(L, 1);
  lua_pushinteger(L, lua_resume(co, L, 0, &n));
  lua_settop(co, 0);
  return 1;
}

/* on(co, f): calls f as a host calls what belongs to a coroutine. */
static int on (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  lua_pushvalue(L, 2);
  lua_xmove(L, co, 1);
  lua_pcall(co, 0, 0, 0);
  lua_settop(co, 0);
  return 0;
}

static const luaL_Reg functions[] = {
  {"keep", keep},
  {"answer", answer},
  {"code", code},
  {"change", change},
  {"pass", pass},
  {"handle", handle},
  {"serve", serve},
  {"close", close_late},
  {"resume", resume},
  {"on", on},
  {NULL, NULL}
};

__attribute__((visibility("default")))
int luaopen_catches (lua_State *L);

int luaopen_catches (lua_State *L) {
  luaL_newlib(L, functions);
  return 1;
}
