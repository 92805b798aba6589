/*
** atexit.c - a Lua function called at the end of a process, however it ends.
**
** os.exit without 'close' leaves by the C library's exit and runs no
** finalizer; a trace around a program has to be written even then. The module
** is a function: atexit(f) calls f once, when the state closes or, failing
** that, when the process exits. One state per process is served.
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
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
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

static int set (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_argcheck(L, thread == NULL, 1, "only once");
  /* a thread of its own, since the exit may come from any coroutine */
  lua_State *L1 = lua_newthread(L);
  lua_setfield(L, LUA_REGISTRYINDEX, "spec.atexit.thread");
  lua_pushvalue(L, 1);
  lua_xmove(L, L1, 1);
  lua_newuserdatauv(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, closing);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, "spec.atexit.guard");
  thread = L1;
  if (atexit(finish) != 0)
    return luaL_error(L, "no room for an exit function");
  return 0;
}

__attribute__((visibility("default")))
int luaopen_atexit (lua_State *L);

int luaopen_atexit (lua_State *L) {
  lua_pushcfunction(L, set);
  return 1;
}
