/*
** anchor.c - one table in the registry, from a trace's address to its object.
** On the thread that runs the state.
*/
#include "session/anchor.h"

static const char key_anchors = 0;    /* registry: table tg_Trace* -> Trace */

/* The table is made with the first trace that needs it. Leaves it on the stack:
   [-0, +1, m]. */
static void push_anchors (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key_anchors) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key_anchors);
  }
}

/* Strong, in a table and not as single entries of the registry: a program that
   looks into that finds one thing of ours. */
void tg_anchor_put (lua_State *L, tg_Trace *t) {
  tg_assert(lua_touserdata(L, -1) == t && !t->anchored);
  push_anchors(L);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, t);
  lua_pop(L, 1);
  t->anchored = true;
}

/* To set a field to nil that a table has allocates nothing (luaH_set only makes
   room for keys that are new). Without room on the stack the Trace stays until
   the state closes, which is no harm but for its memory. */
void tg_anchor_release (lua_State *L, tg_Trace *t) {
  if (!t->anchored || !lua_checkstack(L, 3))
    return;
  TG_STACK_GUARD(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key_anchors);
  lua_pushnil(L);
  lua_rawsetp(L, -2, t);
  lua_pop(L, 1);
  t->anchored = false;
  TG_STACK_CHECK(L);
}
