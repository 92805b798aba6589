/*
** behind.c - what C does behind a hook's back: it catches errors, resumes and
** yields without any of Lua's functions for that, and borrows the hook. And a
** light userdata that is NULL.
*/
#include <string.h>

#include "lua.h"

#include "lauxlib.h"

/* catch(f, ...): calls each, keeping their errors to itself. */
static int behind_catch (lua_State *L) {
  int n = lua_gettop(L);
  for (int i = 1; i <= n; i++) {
    lua_pushvalue(L, i);
    lua_pcall(L, 0, 0, 0);
    lua_settop(L, n);
  }
  return 0;
}

/* resume(co, n): n times, with 1, 2 ... and dropping what it yields. */
static int behind_resume (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  int n = (int)luaL_checkinteger(L, 2), results, status = LUA_YIELD;
  for (int i = 1; i <= n && status == LUA_YIELD; i++) {
    lua_pushinteger(co, i);
    status = lua_resume(co, L, 1, &results);
    lua_pop(co, results);
  }
  return 0;
}

/* yield(...) */
static int behind_yield (lua_State *L) {
  return lua_yield(L, lua_gettop(L));
}

/* ---- the hook ---- */

static struct {
  lua_Hook hook;
  int mask, count;
  int events;           /* how many more it is borrowed for */
} borrowed;

static void take (lua_State *L, lua_Debug *ar) {
  (void)ar;
  if (--borrowed.events == 0)
    lua_sethook(L, borrowed.hook, borrowed.mask, borrowed.count);
}

static void borrow (lua_State *L, const char *events, int n) {
  int mask = (strchr(events, 'c') ? LUA_MASKCALL : 0)
             | (strchr(events, 'r') ? LUA_MASKRET : 0)
             | (strchr(events, 'i') ? LUA_MASKCOUNT : 0);
  borrowed.hook = lua_gethook(L);
  borrowed.mask = lua_gethookmask(L);
  borrowed.count = lua_gethookcount(L);
  borrowed.events = n;
  lua_sethook(L, take, mask, 1);
}

/* borrow(mask, n): for n events, "c" calls, "r" returns, "i" instructions, that
   nobody else sees. The first may be the return of this function. */
static int behind_borrow (lua_State *L) {
  borrow(L, luaL_checkstring(L, 1), (int)luaL_checkinteger(L, 2));
  return 0;
}

/* As a finalizer, which is called with hooks off: so it is the next event of
   whatever runs that is not seen. */
static int borrow__gc (lua_State *L) {
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, -1, "mask");
  borrow(L, lua_tostring(L, -1), 1);
  lua_pushboolean(L, 1);
  lua_setfield(L, -3, "done");
  return 0;
}

/* later(t): borrows it for one event of t.mask at the next collection of
   garbage, and sets t.done. */
static int behind_later (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_newuserdatauv(L, 0, 1);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, borrow__gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  return 0;
}

static const luaL_Reg functions[] = {
  {"catch", behind_catch},
  {"resume", behind_resume},
  {"yield", behind_yield},
  {"borrow", behind_borrow},
  {"later", behind_later},
  {NULL, NULL}
};

__attribute__((visibility("default")))
int luaopen_behind (lua_State *L);

int luaopen_behind (lua_State *L) {
  luaL_newlib(L, functions);
  lua_pushlightuserdata(L, NULL);
  lua_setfield(L, -2, "null");
  return 1;
}
