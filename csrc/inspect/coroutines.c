/*
** coroutines.c - see coroutines.h. Called by inspector.c.
*/
#include "inspect/coroutines.h"

/* One that has returned has nothing left; one that an error has ended has its
   frames, and one that has not begun its function. */
static bool is_over (lua_State *co) {
  lua_Debug ar;
  return lua_status(co) == LUA_OK && !lua_getstack(co, 0, &ar)
         && !lua_isfunction(co, 1);
}

/* What is pushed on 'co' goes at once, so that it is as it was. */
static bool enlist (lua_State *L, lua_State *co, int list, int at) {
  if (!lua_checkstack(co, 1))
    return false;
  lua_pushthread(co);
  if (co != L)
    lua_xmove(co, L, 1);
  lua_rawseti(L, list, at);
  return true;
}

static lua_State *main_of (lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State *co = lua_tothread(L, -1);
  lua_pop(L, 1);
  return co;
}

#define ROOM 1024           /* in the list from the beginning */

/* Room for the list is made first: no object is made while the roll is good. */
int tg_coroutines_push (tg_Inspector *i, lua_State *L, int most) {
  tg_Roll *roll = &i->roll;
  if (!i->direct || !tg_roll_known())
    return 0;
  luaL_checkstack(L, 4, NULL);
  lua_createtable(L, (most < ROOM) ? most : ROOM, 0);
  int list = lua_gettop(L), listed = 0;
  lua_Integer total = 0;
  const lua_State *outermost = main_of(L);
  tg_roll_call(roll, L);
  for (uint32_t n = roll->count; n > 0; n--) {
    lua_State *co = roll->list[n - 1];
    if (co == outermost || tg_debuggee_owns(i, co) || is_over(co))
      continue;
    total++;
    if (listed < most && enlist(L, co, list, listed + 1))
      listed++;
  }
  lua_pushinteger(L, total);
  return 2;
}
