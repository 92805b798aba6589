/*
** exceptions.c - pcall as Lua has it, but for a message handler; and what is
** done about coroutines that have died. Called by the program, as Lua's own:
** what is raised and returned is what that would. The source that it follows
** is lbaselib.c.
*/
#include <pthread.h>

#include <lualib.h>

#include "inspect/exceptions.h"
#include "host/builtins.h"
#include "host/ownfunctions.h"
#include "host/running.h"
#include "inspect/thrown.h"
#include "inspect/watch.h"

static tg_Inspector *inspector_of (lua_State *L) {
  return tg_debuggee_of(tg_host_find(L));
}

/* ---- pcall ---- */

/* Gives the error back as it is. This innermost frame is not shown to
   debuggers. */
static int handle (lua_State *L) {
  tg_Inspector *i = inspector_of(L);
  lua_settop(L, 1);
  if (i != NULL && tg_watch_hears(i))
    tg_watch_error(i, L, L, 1, !tg_thrown_is_caught(i, L, 1));
  return 1;
}

/* As finishpcall; below its results is the handler. */
static int finish (lua_State *L, int status, lua_KContext below) {
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_pushboolean(L, 0);
    lua_pushvalue(L, -2);
    return 2;
  }
  return lua_gettop(L) - (int)below;
}

/* As luaB_pcall. A handler is a call that a hook of the program's would see: so
   there is none without a debugger, nor where such a hook is. */
static int standin_pcall (lua_State *L) {
  tg_Inspector *i = inspector_of(L);
  if (i == NULL || !i->wants.pauses || lua_gettop(L) == 0
      || tg_watch_is_left(i, L))
    return tg_builtins_real(TG_ROLE_PCALL)(L);
  lua_pushcfunction(L, handle);
  lua_insert(L, 1);
  lua_pushboolean(L, 1);
  lua_insert(L, 2);                     /* handler true f arguments */
  int status = lua_pcallk(L, lua_gettop(L) - 3, LUA_MULTRET, 1, 1, finish);
  return finish(L, status, 1);
}

static int stand_in (lua_State *L) {
  lx_replace(L, LUA_GNAME, "pcall", tg_builtins_real(TG_ROLE_PCALL),
             standin_pcall);
  return 0;
}

static int stand_down (lua_State *L) {
  lx_replace(L, LUA_GNAME, "pcall", standin_pcall,
             tg_builtins_real(TG_ROLE_PCALL));
  return 0;
}

/* ---- coroutines ---- */

/* coroutine.resume returns the error, and wrap raises it again ('passes'): it
   is the same error, told once. An error of a __close method replaces the one
   that was told; it is shown where the coroutine is closed, which is the caller
   of the function that does so. */
static void died (tg_Host *h, lua_State *L, lua_State *co, bool passes) {
  tg_Inspector *i = tg_debuggee_of(h);
  if (i == NULL || !tg_watch_hears(i))
    return;
  bool caught = !passes || tg_thrown_is_caught(i, L, 1);
  i->passing = i->passing && co != L;
  tg_watch_error(i, L, co, co == L ? 1 : 0, !caught);
  i->passing = passes;
}

/* ---- opening and closing ---- */

static void know_standin (void) {
  tg_builtins_standin(standin_pcall, TG_ROLE_PCALL);
  tg_ownfunctions_except(standin_pcall);
}

void tg_exceptions_open (tg_Inspector *i, lua_State *L) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, know_standin);
  i->handler = handle;
  lx_quietly(L, stand_in, NULL);
  tg_running_report_deaths(i->part.host, died);
}

void tg_exceptions_close (tg_Inspector *i, lua_State *L) {
  tg_running_report_deaths(i->part.host, NULL);
  lx_quietly(L, stand_down, NULL);
}
