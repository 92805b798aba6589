/*
** serverstate.c - see serverstate.h. What the server's Lua raises ends it, and
** is told in words.
*/
#include "server/serverstate.h"

#include <signal.h>
#include <stdio.h>

#include <lauxlib.h>
#include <lualib.h>

#include "outside/ownmark.h"

/* For package.path and package.cpath; borrows. */
typedef struct Paths {
  const char *path, *cpath;
} Paths;

/* The modules are found as the traced program finds them, not as the
   environment says: the program may have set its own path. */
static void set_path (lua_State *L, const char *field, const char *path) {
  lua_getglobal(L, LUA_LOADLIBNAME);
  lua_pushstring(L, path);
  lua_setfield(L, -2, field);
  lua_pop(L, 1);
}

/* Raises what a module raises: the server ends then, and its words are told to
   those who listen. */
static void call_require (lua_State *L, const char *module) {
  lua_getglobal(L, "require");
  lua_pushstring(L, module);
  lua_call(L, 1, 1);
}

/* luv has the whole process ignore SIGPIPE; here all signals are blocked, and
   elsewhere it is the program's. */
static void load_luv (lua_State *L) {
  struct sigaction before;
  bool known = sigaction(SIGPIPE, NULL, &before) == 0;
  lua_getglobal(L, "pcall");
  lua_getglobal(L, "require");
  lua_pushliteral(L, "luv");
  lua_call(L, 2, 2);
  if (known)
    sigaction(SIGPIPE, &before, NULL);
  if (!lua_toboolean(L, -2))
    luaL_error(L, "the server needs the library luv: %s",
               lua_tostring(L, -1));
  lua_pop(L, 2);
}

/* 'host' is an empty userdata: its methods use the one server of the
   process. */
static int serve (lua_State *L) {
  const Paths *p = lua_touserdata(L, 1);
  lua_pushboolean(L, 1);        /* nobody is to look into this one */
  lua_rawsetp(L, LUA_REGISTRYINDEX, tg_ownmark);
  luaL_openlibs(L);
  set_path(L, "path", p->path);
  set_path(L, "cpath", p->cpath);
  load_luv(L);
  call_require(L, "tracegrip.server");
  lua_getfield(L, -1, "run");
  lua_newuserdatauv(L, 1, 0);
  luaL_setmetatable(L, TG_SERVERHOST);
  lua_call(L, 1, 0);
  return 0;
}

void tg_serverstate_run (const char *path, const char *cpath, char *trouble,
                         size_t size) {
  Paths paths = {path, cpath};
  lua_State *L = luaL_newstate();
  if (L == NULL) {
    snprintf(trouble, size, "not enough memory");
    return;
  }
  *trouble = '\0';
  lua_pushcfunction(L, serve);
  lua_pushlightuserdata(L, &paths);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK)
    snprintf(trouble, size, "%s", luaL_tolstring(L, -1, NULL));
  lua_close(L);
}
