/*
** atexit.c - a trace around all that is left of a process, however it ends.
**
** The module is a function: atexit(start, options, finish) calls start(options)
** and has finish called with what that returns, once: when the state closes,
** or when the process exits, since os.exit without 'close' leaves by the C
** library's exit and runs no finalizer. From start's return on it makes no
** Lua call, so nothing of it is traced; and it marks its own finalizer after
** that of the trace, so it runs before. One state per process is served.
*/
#include <stdio.h>
#include <stdlib.h>

#include "lua.h"

#include "lauxlib.h"

static lua_State *thread;   /* pinned by the registry; NULL when all is done */

static void finish (void) {
  lua_State *L = thread;
  if (L == NULL)
    return;
  thread = NULL;
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
    fprintf(stderr, "atexit: %s\n", lua_tostring(L, -1));
    lua_pop(L, 1);
  }
}

/* The finalizer: the state is closing. */
static int closing (lua_State *L) {
  (void)L;
  finish();
  return 0;
}

static int around (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  luaL_argcheck(L, thread == NULL, 1, "only once");
  if (atexit(finish) != 0)
    return luaL_error(L, "no room for an exit function");
  /* a thread of its own, since the exit may come from any coroutine */
  lua_State *L1 = lua_newthread(L);
  lua_setfield(L, LUA_REGISTRYINDEX, "spec.atexit.thread");
  lua_newuserdatauv(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, closing);
  lua_setfield(L, -2, "__gc");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 1, 1);          /* guard meta trace */
  lua_pushvalue(L, 3);
  lua_pushvalue(L, -2);
  lua_xmove(L, L1, 2);
  lua_pop(L, 1);
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, "spec.atexit.guard");
  thread = L1;
  return 0;
}

__attribute__((visibility("default")))
int luaopen_atexit (lua_State *L);

int luaopen_atexit (lua_State *L) {
  lua_pushcfunction(L, around);
  return 1;
}
