/*
** longcalls.c - see longcalls.h. In the hook.
*/
#include "sample/longcalls.h"

#include <lauxlib.h>

/* Their time depends on what they are given, or on others. */
static const struct {
  const char *library, *name;
} calls[] = {
  {"_G", "collectgarbage"}, {"_G", "load"}, {"_G", "print"},
  {"io", "read"}, {"io", "write"}, {"os", "execute"},
  {"string", "find"}, {"string", "format"}, {"string", "gsub"},
  {"string", "match"}, {"string", "rep"},
  {"table", "concat"}, {"table", "insert"}, {"table", "move"},
  {"table", "remove"}, {"table", "sort"}, {"table", "unpack"}
};

/* The field of the table on top of the stack, in its place. */
static void enter (lua_State *L, const char *name) {
  lua_pushstring(L, name);
  if (lua_istable(L, -2))
    lua_rawget(L, -2);
  lua_remove(L, -2);
}

static int know (lua_State *L) {
  tg_Session *s = lua_touserdata(L, 1);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    lua_pushvalue(L, LUA_REGISTRYINDEX);
    enter(L, LUA_LOADED_TABLE);
    enter(L, calls[i].library);
    enter(L, calls[i].name);
    if (lua_iscfunction(L, -1))
      tg_catalog_past(s, L);
    lua_pop(L, 1);
  }
  return 0;
}

void tg_longcalls_know (tg_Session *s, lua_State *L) {
  lx_quietly(L, know, s);
}
