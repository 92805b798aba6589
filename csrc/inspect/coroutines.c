/*
** coroutines.c - see coroutines.h. Called by inspector.c.
*/
#include "inspect/coroutines.h"

#include "direct/objects.h"

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

/* The newest objects come first. Between the table whose colour is looked at
   and the end of the list no object is made, so the collector does nothing. */
int tg_coroutines_push (const tg_Inspector *i, lua_State *L, int most) {
  if (!i->direct || !tg_objects_known())
    return 0;
  luaL_checkstack(L, 4, NULL);
  lua_newtable(L);
  int list = lua_gettop(L), listed = 0;
  lua_Integer total = 0;
  const void *fresh = lua_topointer(L, list);
  const lua_State *outermost = main_of(L);
  for (const void *o = tg_objects_first(L); o != NULL;
       o = tg_objects_next(o)) {
    lua_State *co = tg_objects_coroutine(o);
    if (co == NULL || co == outermost || tg_debuggee_owns(i, co)
        || tg_objects_dead(o, fresh) || is_over(co))
      continue;
    total++;
    if (listed < most && enlist(L, co, list, listed + 1))
      listed++;
  }
  lua_pushinteger(L, total);
  return 2;
}
