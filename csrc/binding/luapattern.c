/*
** luapattern.c - see luapattern.h. On the thread of the state; what is wrong
** raises.
*/
#include "binding/luapattern.h"

#include "text/patterns.h"

/* string.find says whether a pattern is well formed. Our own matcher
   (pattern.h) runs where nothing may raise, so what Lua would complain of must
   be found here, in Lua's words. Where a program has no string library, no
   check: of such a pattern it is not known what it finds. */
void tg_luapattern_check (lua_State *L, const char *name) {
  int top = lua_gettop(L);
  if (lx_loaded(L, "string") != LUA_TTABLE
      || lua_getfield(L, -1, "find") != LUA_TFUNCTION) {
    lua_settop(L, top);
    return;
  }
  lua_pushliteral(L, "");
  lua_pushvalue(L, top);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK)
    luaL_error(L, "option '%s': %s", name, lua_tostring(L, -1));
  lua_settop(L, top);
}

/* Each by itself: a list in C would have to be freed if something raises. */
int luapattern_found (lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  tg_Found all = TG_FOUND_NOT;
  luaL_checktype(L, 2, LUA_TTABLE);
  for (lua_Integer i = 1; all != TG_FOUND
                          && lua_rawgeti(L, 2, i) == LUA_TSTRING; i++) {
    uint64_t steps = TG_PATTERNS_OWN_EACH;
    tg_Found found =
        tg_pattern_search(text, size, lua_tostring(L, -1), &steps);
    if (found != TG_FOUND_NOT)
      all = found;
    lua_pop(L, 1);
  }
  if (all == TG_FOUND_UNKNOWN)
    lua_pushnil(L);
  else
    lua_pushboolean(L, all == TG_FOUND);
  return 1;
}
