#include "lx.h"

const char tg_key_session = 0;
const char tg_key_threads = 0;
const char tg_key_strings = 0;
const char tg_key_traces = 0;

bool lx_quietly (lua_State *L, lua_CFunction f, void *ud) {
  bool ok;
  bool collecting = lua_gc(L, LUA_GCISRUNNING) == 1;
  if (!lua_checkstack(L, 4))
    return false;
  if (collecting)
    lua_gc(L, LUA_GCSTOP);
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, ud);
  ok = lua_pcall(L, 1, 0, 0) == LUA_OK;
  if (!ok)
    lua_pop(L, 1);
  if (collecting)
    lua_gc(L, LUA_GCRESTART);
  return ok;
}

lua_State *lx_mainthread (lua_State *L) {
  lua_State *M;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  M = lua_tothread(L, -1);
  lua_pop(L, 1);
  return M;
}

void lx_replace (lua_State *L, const char *library, const char *name,
                 lua_CFunction what, lua_CFunction with) {
  int top = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_pushstring(L, library);
  lua_rawget(L, -2);
  if (lua_istable(L, -1)) {
    lua_pushstring(L, name);
    lua_rawget(L, -2);
    if (lua_tocfunction(L, -1) == what) {
      lua_pushstring(L, name);
      lua_pushcfunction(L, with);
      lua_rawset(L, -4);
    }
  }
  lua_settop(L, top);
}
