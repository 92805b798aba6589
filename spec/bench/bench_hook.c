/*
** bench_hook.c - what tracing is compared with: the cheapest hook that there
** can be, one that counts its events, and a clock.
**
** hook("empty" | "count" | nil) sets or removes a hook for calls and returns,
** hook "calls" one for calls, in the calling coroutine; coroutines made from
** then on inherit it, as they do any hook. count() is how many events were
** counted since the hook was set; now() is this thread's processor time in
** nanoseconds, so that what else the machine does counts less.
*/
#include <stdint.h>
#include <time.h>

#include "lua.h"

#include "lauxlib.h"

static uint64_t events;

static void empty (lua_State *L, lua_Debug *ar) {
  (void)L;
  (void)ar;
}

static void count (lua_State *L, lua_Debug *ar) {
  (void)L;
  (void)ar;
  events++;
}

static int bench_hook (lua_State *L) {
  static const char *const names[] = {"none", "empty", "count", "calls", NULL};
  static const lua_Hook hooks[] = {NULL, empty, count, empty};
  static const int masks[] = {0, LUA_MASKCALL | LUA_MASKRET,
                              LUA_MASKCALL | LUA_MASKRET, LUA_MASKCALL};
  int which = luaL_checkoption(L, 1, "none", names);
  events = 0;
  lua_sethook(L, hooks[which], masks[which], 0);
  return 0;
}

static int bench_count (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)events);
  return 1;
}

static int bench_now (lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  lua_pushinteger(L, (lua_Integer)t.tv_sec * 1000000000 + t.tv_nsec);
  return 1;
}

static const luaL_Reg functions[] = {
  {"hook", bench_hook},
  {"count", bench_count},
  {"now", bench_now},
  {NULL, NULL}
};

__attribute__((visibility("default")))
int luaopen_bench_hook (lua_State *L);

int luaopen_bench_hook (lua_State *L) {
  luaL_checkversion(L);
  luaL_newlib(L, functions);
  return 1;
}
