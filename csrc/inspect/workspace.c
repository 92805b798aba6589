/*
** workspace.c - see workspace.h.
*/
#include "inspect/workspace.h"

lua_State *tg_workspace_new (lua_State *L, const void *key) {
  lua_State *work = lua_newthread(L);
  lua_sethook(work, NULL, 0, 0);        /* it has inherited its maker's */
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
  return work;
}

void tg_workspace_drop (lua_State *L, const void *key) {
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}
