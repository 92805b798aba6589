/*
** partingobject.c - see partingobject.h. On the thread that runs the state. The
** userdata pins both replays.
*/
#include "trace/partingobject.h"

#include <string.h>

#include "replay/parting.h"
#include "trace/replayobject.h"

#define PARTING "tracegrip.parting"

enum { A = 1, B };              /* user values: the replays */

static int parting__gc (lua_State *L) {
  tg_parting_free(lua_touserdata(L, 1));
  return 0;
}

static tg_Parting *check_parting (lua_State *L) {
  tg_Parting *p = luaL_checkudata(L, 1, PARTING);
  if (p->a == NULL)
    luaL_error(L, "this parting has been collected");
  return p;
}

/* A replay may be collected before, while the state closes. */
static void check_replays (lua_State *L) {
  for (int i = A; i <= B; i++) {
    lua_getiuservalue(L, 1, i);
    tg_replayobject_check_status(L, -1);
    lua_pop(L, 1);
  }
}

static int parting_turn (lua_State *L) {
  static const char *const words[] = {
    [TG_DIFFER_NOT] = NULL, [TG_DIFFER_GOING] = "going",
    [TG_DIFFER_END] = "end", [TG_DIFFER_KIND] = "kind",
    [TG_DIFFER_THREAD] = "thread", [TG_DIFFER_FUNCTION] = "function",
    [TG_DIFFER_PLACE] = "place", [TG_DIFFER_VALUES] = "values",
    [TG_DIFFER_FAILED] = "failed"
  };
  tg_Parting *p = check_parting(L);
  lua_Integer budget = luaL_checkinteger(L, 2);
  luaL_argcheck(L, budget > 0, 2, "a positive number expected");
  check_replays(L);
  tg_Difference d = tg_parting_turn(p, (uint64_t)budget);
  check_replays(L);
  if (d == TG_DIFFER_FAILED)
    return luaL_error(L, "not enough memory");
  lua_pushstring(L, words[d]);  /* NULL: nil */
  return 1;
}

int partingobject_new (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"turn", parting_turn},
    {"__gc", parting__gc},
    {NULL, NULL}
  };
  tg_Replay *a = tg_replayobject_check(L, 1);
  tg_Replay *b = tg_replayobject_check(L, 2);
  luaL_argcheck(L, a != b, 2, "another replay expected");
  tg_Parting *p = lua_newuserdatauv(L, sizeof *p, 2);
  memset(p, 0, sizeof *p);
  lx_class(L, PARTING, methods);
  luaL_setmetatable(L, PARTING);
  for (int i = A; i <= B; i++) {
    lua_pushvalue(L, i);
    lua_setiuservalue(L, -2, i);
  }
  tg_parting_begin(p, a, b);
  return 1;
}
