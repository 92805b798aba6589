/*
** typelist.c - see typelist.h. On any thread, with that thread's state.
*/
#include "binding/typelist.h"

#include "binding/optionvalue.h"

/* For messages: "name, callsite, ...". */
static void push_known_types (lua_State *L) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 0; i < TG_NTYPES; i++) {
    if (i > 0)
      luaL_addstring(&b, ", ");
    luaL_addstring(&b, tg_tracetype_name(i));
  }
  luaL_pushresult(&b);
}

/* What was given may be anything: luaL_tolstring shows it, also by a __tostring
   of the program's, which is fine outside the hook. */
static int unknown_type (lua_State *L) {
  const char *name = luaL_tolstring(L, -1, NULL);
  push_known_types(L);
  return luaL_error(L, "no such trace type '%s' (known: %s)", name,
                    lua_tostring(L, -1));
}

uint32_t tg_typelist_read (lua_State *L, int index) {
  uint32_t types = 0;
  if (!lua_istable(L, index))
    luaL_error(L, "option 'trace': a list of trace types expected, got %s",
               luaL_typename(L, index));
  if (!tg_optionvalue_is_list(L, index))
    luaL_error(L, "option 'trace': a list of trace types expected, got a table "
               "with other keys");
  for (lua_Integer i = 1; lua_rawgeti(L, index, i) != LUA_TNIL; i++) {
    uint32_t bit = 0;
    if (lua_type(L, -1) == LUA_TSTRING)
      bit = tg_tracetype_bit(lua_tostring(L, -1));
    if (bit == 0)
      unknown_type(L);
    types |= bit;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return types;
}

void tg_typelist_push (lua_State *L, uint32_t types) {
  lua_Integer n = 0;
  lua_newtable(L);
  for (int i = 0; i < TG_NTYPES; i++) {
    if (types & (1u << i)) {
      lua_pushstring(L, tg_tracetype_name(i));
      lua_rawseti(L, -2, ++n);
    }
  }
}
