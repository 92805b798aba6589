/*
** metaname.c - see metaname.h. Called in the hook, where a function without a
** name is defined. lua_next does not raise where the table is not changed, and
** strings that are there need not be made.
*/
#include "state/metaname.h"

#include <string.h>

#include "base/alloc.h"

#define MANY 1000           /* entries of a table that are looked at */

/* The first by name of the metamethods of the table on top that are 'f'; NULL:
   none is. Borrowed from the table. */
static const char *find_method (lua_State *L, lua_CFunction f) {
  const char *found = NULL;
  int n = 0;
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2)
                                                      : "";
    if (n++ < MANY && strncmp(name, "__", 2) == 0 && lua_tocfunction(L, -1) == f
        && (found == NULL || strcmp(name, found) < 0))
      found = name;
    lua_pop(L, 1);
  }
  return found;
}

static char *joined (const char *class, const char *method) {
  if (strcmp(class, "_UBOX*") == 0)
    class = "luaL_Buffer";
  size_t before = strlen(class), size = before + 1 + strlen(method);
  char *name = tg_malloc(size + 1);
  if (name == NULL)
    return NULL;
  memcpy(name, class, before);
  name[before] = '.';
  memcpy(name + before + 1, method, size - before);
  return name;
}

/* Classes in the order in which the registry has them. */
char *tg_metaname_of (lua_State *L) {
  lua_CFunction f = lua_tocfunction(L, -1);
  char *name = NULL;
  if (f == NULL || !lua_checkstack(L, 6))
    return NULL;
  TG_STACK_GUARD(L);
  lua_pushnil(L);
  while (name == NULL && lua_next(L, LUA_REGISTRYINDEX)) {
    bool named = lua_type(L, -2) == LUA_TSTRING && lua_istable(L, -1);
    const char *method = named ? find_method(L, f) : NULL;
    if (method != NULL)
      name = joined(lua_tostring(L, -2), method);
    lua_pop(L, name != NULL ? 2 : 1);
  }
  TG_STACK_CHECK(L);
  return name;
}
