/*
** standins.c - coroutine.resume, wrap and close as Lua has them, which also
** keep the list of coroutines that run (running.h). Called by the program in
** place of Lua's own, with the same errors and results. They follow lcorolib.c.
*/
#include <pthread.h>

#include "host/standins.h"
#include "host/builtins.h"
#include "host/ownfunctions.h"
#include "host/userhook.h"

#include <lualib.h>

/* Lua's error if 'from' has no room for what is to be moved. */
static int too_many (lua_State *L, const char *what) {
  lua_pushfstring(L, "too many %s to resume", what);
  return -1;
}

/* Runs 'co' with arguments from 'L', which is wrap's function if an error
   'passes'. How many results there are on 'L' then; -1: an error value is. As
   auxresume, which checks the same: 'co' is no dead coroutine there, since
   lua_resume says so itself, and leaves its status as it is. */
static int run (lua_State *L, lua_State *co, int arguments, bool passes) {
  tg_Host *h = tg_host_find(L);
  int results = 0, before = lua_status(co);
  if (!lua_checkstack(co, arguments))
    return too_many(L, "arguments");
  lua_xmove(L, co, arguments);
  bool entered = h != NULL && tg_running_enter(h, co);
  int status = lua_resume(co, L, arguments, &results);
  if (entered)
    tg_running_leave(h);
  if (status != LUA_OK && status != LUA_YIELD) {
    if (h != NULL && lua_status(co) == LUA_ERRRUN && before != LUA_ERRRUN)
      tg_running_died(h, L, co, passes);
    lua_xmove(co, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, results + 1)) {
    lua_pop(co, results);
    return too_many(L, "results");
  }
  lua_xmove(co, L, results);
  return results;
}

/* As luaB_coresume. */
static int standin_resume (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  if (co == NULL)
    return tg_builtins_real(TG_ROLE_RESUME)(L);     /* which raises */
  int results = run(L, co, lua_gettop(L) - 1, false);
  lua_pushboolean(L, results >= 0);
  if (results < 0)
    results = 1;
  lua_insert(L, -results - 1);
  return results + 1;
}

/* Closes the variables of a coroutine whose error is on top of the stack; they
   may put another in its place, but not before 5.4.3. */
static int close_variables (lua_State *L, lua_State *co) {
  int status = lua_status(co);
  if (tg_close_forgets)
    lua_resetthread(co);
  else {
    lua_xmove(L, co, 1);
    status = lua_resetthread(co);
    lua_xmove(co, L, 1);
  }
  return status;
}

static bool is_dead (lua_State *co) {
  return lua_status(co) != LUA_OK && lua_status(co) != LUA_YIELD;
}

/* An error on top of the stack that is not the one at 'first' was raised by a
   __close method, whose frames are gone by now. */
static void tell_another (lua_State *L, int first, bool passes) {
  tg_Host *h = tg_host_find(L);
  if (h != NULL && !lua_rawequal(L, -1, first))
    tg_running_died(h, L, L, passes);
}

/* An error leaves the coroutine dead, with its variables closed, and goes on in
   its caller, with the place of that in front of a message. */
static int pass_error (lua_State *L, lua_State *co) {
  int status = lua_status(co);
  if (is_dead(co)) {
    lua_pushvalue(L, -1);
    status = close_variables(L, co);
    tell_another(L, -2, true);
  }
  if (lua_type(L, -1) == LUA_TSTRING && status != LUA_ERRMEM) {
    luaL_where(L, 1);
    lua_rotate(L, -2, 1);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* As auxwrap: an error of a coroutine that is dead is passed on to whoever
   called. */
static int standin_wrapped (lua_State *L) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  int results = run(L, co, lua_gettop(L), true);
  return (results >= 0) ? results : pass_error(L, co);
}

/* The coroutine is made by Lua's own coroutine.create, which checks its
   argument. */
static int standin_wrap (lua_State *L) {
  tg_builtins_real(TG_ROLE_CREATE)(L);
  lua_pushcclosure(L, standin_wrapped, 1);
  return 1;
}

/* Whether coroutine.close will close it, and so raises nothing: it neither runs
   nor has resumed one that does (auxstatus). */
static bool is_closable (const lua_State *L, lua_State *co) {
  lua_Debug ar;
  return co != NULL && co != L
         && (lua_status(co) != LUA_OK || !lua_getstack(co, 0, &ar));
}

/* Calls Lua's own function, which closes 'co'. A coroutine that has died has
   its error on top of its stack; for others nil stands for the error. */
static int close_coroutine (lua_State *L, tg_Host *h, lua_State *co) {
  int first = lua_gettop(L) + 1;
  if (is_dead(co) && lua_checkstack(co, 1)) {
    lua_pushvalue(co, -1);
    lua_xmove(co, L, 1);
  }
  else
    lua_pushnil(L);
  bool entered = tg_running_enter(h, co);
  int results = tg_builtins_real(TG_ROLE_CLOSE)(L);
  if (entered)
    tg_running_leave(h);
  if (results == 2)
    tell_another(L, first, false);
  return results;
}

static int standin_close (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  tg_Host *h = tg_host_find(L);
  if (h == NULL || !is_closable(L, co))
    return tg_builtins_real(TG_ROLE_CLOSE)(L);
  return close_coroutine(L, h, co);
}

/* Only what is Lua's own is replaced: what the program has put in its place
   stays, and calls Lua's own or does not. */
static int stand_in (lua_State *L) {
  lx_replace(L, LUA_COLIBNAME, "resume", tg_builtins_real(TG_ROLE_RESUME),
             standin_resume);
  lx_replace(L, LUA_COLIBNAME, "wrap", tg_builtins_real(TG_ROLE_WRAP),
             standin_wrap);
  lx_replace(L, LUA_COLIBNAME, "close", tg_builtins_real(TG_ROLE_CLOSE),
             standin_close);
  return 0;
}

/* Only what is still ours is taken out: see stand_in. */
static int stand_down (lua_State *L) {
  lx_replace(L, LUA_COLIBNAME, "resume", standin_resume,
             tg_builtins_real(TG_ROLE_RESUME));
  lx_replace(L, LUA_COLIBNAME, "wrap", standin_wrap,
             tg_builtins_real(TG_ROLE_WRAP));
  lx_replace(L, LUA_COLIBNAME, "close", standin_close,
             tg_builtins_real(TG_ROLE_CLOSE));
  return 0;
}

/* They count as what they stand for: traced programs see calls of
   coroutine.resume, whatever does the work. */
static void know_standins (void) {
  tg_builtins_standin(standin_resume, TG_ROLE_RESUME);
  tg_builtins_standin(standin_wrap, TG_ROLE_WRAP);
  tg_builtins_standin(standin_wrapped, TG_ROLE_WRAPPED);
  tg_builtins_standin(standin_close, TG_ROLE_CLOSE);
  tg_ownfunctions_except(standin_resume);
  tg_ownfunctions_except(standin_wrap);
  tg_ownfunctions_except(standin_wrapped);
  tg_ownfunctions_except(standin_close);
}

/* Without memory they stay as they are, and a signal does not reach what runs
   inside a coroutine (running.h). */
void tg_standins_open (tg_Host *h, lua_State *L, tg_Caller who,
                       tg_Serve *serve) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, know_standins);
  if (!tg_running_add(h, who, serve))
    return;
  lx_quietly(L, stand_in, NULL);
  tg_userhook_enter(h, L);
}

void tg_standins_close (tg_Host *h, lua_State *L, tg_Caller who) {
  if (!tg_running_remove(h, who))
    return;
  lx_quietly(L, stand_down, NULL);
  tg_userhook_leave(h, L);
}
