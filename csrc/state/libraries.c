/*
** libraries.c - the functions that builtins has found, as C functions of the
** state at hand. On the thread that runs it; only memory raises.
*/
#include "state/libraries.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lualib.h>

#include "host/builtins.h"

/*
** {==================================================================
** Texts
** ===================================================================
*/

static int to_string (lua_State *L) {
  luaL_checkany(L, 1);
  lua_settop(L, 1);
  switch (lua_type(L, 1)) {
    case LUA_TSTRING:
      return 1;
    case LUA_TNUMBER:
      lua_tostring(L, 1);
      return 1;
    case LUA_TBOOLEAN:
      lua_pushstring(L, lua_toboolean(L, 1) ? "true" : "false");
      return 1;
    case LUA_TNIL:
      lua_pushliteral(L, "nil");
      return 1;
    default:
      lua_pushfstring(L, "%s: %p", luaL_typename(L, 1), lua_topointer(L, 1));
      return 1;
  }
}

/* Behind a conversion, which ends with its letter. */
static const char *conversion_end (const char *at) {
  while (*at != '\0' && strchr("-+ #0123456789.", *at) != NULL)
    at++;
  return (*at != '\0') ? at + 1 : at;
}

/* One conversion, from its '%' up to 'end', of argument 'n', by Lua's own
   function. */
static void add_converted (lua_State *L, luaL_Buffer *b, const char *at,
                           const char *end, int n) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushlstring(L, at, (size_t)(end - at));
  lua_pushvalue(L, n);
  lua_call(L, 2, 1);
  luaL_addvalue(b);
}

/* Its upvalue is Lua's own, for all conversions but %s. */
static int format (lua_State *L) {
  const char *at = luaL_checkstring(L, 1);
  luaL_Buffer b;
  int n = 1;
  luaL_buffinit(L, &b);
  while (*at != '\0') {
    const char *end = (*at == '%') ? conversion_end(at + 1) : at + 1;
    if (*at != '%')
      luaL_addchar(&b, *at);
    else if (at[1] == '%')
      luaL_addchar(&b, '%');
    else if (at[1] == 's') {
      luaL_checkstring(L, ++n);
      lua_pushvalue(L, n);
      luaL_addvalue(&b);
    }
    else
      add_converted(L, &b, at, end, ++n);
    at = end;
  }
  luaL_pushresult(&b);
  return 1;
}

/* }================================================================== */

#define LIBRARY 16          /* bytes of a library's name */

/* Takes the value on top off as "library.name", or "name", of the table below
   it. */
static void set_member (lua_State *L, const char *full) {
  char library[LIBRARY];
  const char *dot = strchr(full, '.');
  if (dot == NULL) {
    lua_setfield(L, -2, full);
    return;
  }
  snprintf(library, sizeof library, "%.*s", (int)(dot - full), full);
  luaL_getsubtable(L, -2, library);
  lua_insert(L, -2);                    /* libraries library value */
  lua_setfield(L, -2, dot + 1);
  lua_pop(L, 1);
}

static void push_constants (lua_State *L) {
  static const char charpattern[] = "[\0-\x7F\xC2-\xFD][\x80-\xBF]*";
  lua_pushnumber(L, acos(-1));
  set_member(L, "math.pi");
  lua_pushnumber(L, HUGE_VAL);
  set_member(L, "math.huge");
  lua_pushinteger(L, LUA_MAXINTEGER);
  set_member(L, "math.maxinteger");
  lua_pushinteger(L, LUA_MININTEGER);
  set_member(L, "math.mininteger");
  lua_pushlstring(L, charpattern, sizeof charpattern - 1);
  set_member(L, "utf8.charpattern");
  lua_pushliteral(L, LUA_VERSION);
  set_member(L, "_VERSION");
}

void tg_libraries_push (lua_State *L) {
  luaL_checkstack(L, 8, NULL);
  lua_newtable(L);
  const char *name;
  for (size_t i = 0; (name = tg_builtins_member(i)) != NULL; i++) {
    lua_pushcfunction(L, tg_builtins_function(i));
    set_member(L, name);
  }
  push_constants(L);
  lua_pushcfunction(L, to_string);
  set_member(L, "tostring");
  lua_getfield(L, -1, LUA_STRLIBNAME);
  lua_getfield(L, -1, "format");
  lua_pushcclosure(L, format, 1);
  lua_setfield(L, -2, "format");
  lua_pop(L, 1);
}
