/*
** logstyle.c - how a log looks, from a Lua table. On the thread of the state;
** what is wrong raises and names the field, a file that cannot be had is -1
** with errno.
*/
#include <string.h>
#include <unistd.h>

#include "binding/logstyle.h"
#include "text/newfile.h"

/* A key that is no string is unknown, and shown as Lua shows it. */
static bool is_known (lua_State *L, int i) {
  static const char *const known[] = {
    "path", "fd", "color", "times", "summary", "width", "live", "limit"
  };
  const char *key = lua_type(L, i) == LUA_TSTRING ? lua_tostring(L, i) : "";
  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    if (strcmp(key, known[k]) == 0)
      return true;
  }
  return false;
}

/* Apart from reading, so that a mistake is found before a file is made. */
void tg_logstyle_check (lua_State *L, int i) {
  lua_pushnil(L);
  while (lua_next(L, i)) {
    if (!is_known(L, -2))
      luaL_error(L, "unknown style '%s' (known: path, fd, color, times, "
                 "summary, width, live, limit)", luaL_tolstring(L, -2, NULL));
    lua_pop(L, 1);
  }
}

/* As Lua's own conditions: everything but false is true. 'absent' is what nil
   stands for. */
static bool field_bool (lua_State *L, int i, const char *name, bool absent) {
  bool b = (lua_getfield(L, i, name) == LUA_TNIL) ? absent
                                                  : lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

/* A field that is a number from 0 on. */
static uint32_t field_number (lua_State *L, int i, const char *name,
                              uint32_t absent) {
  int ok = 1;
  lua_Integer n = absent;
  if (lua_getfield(L, i, name) != LUA_TNIL)
    n = lua_tointegerx(L, -1, &ok);
  if (!ok || n < 0 || n > INT32_MAX)
    luaL_error(L, "style '%s': a number expected, got %s", name,
               luaL_tolstring(L, -1, NULL));
  lua_pop(L, 1);
  return (uint32_t)n;
}

/* How many events; 0: all of them, which is what nil says. */
static uint64_t field_limit (lua_State *L, int i) {
  int ok;
  bool there = lua_getfield(L, i, "limit") != LUA_TNIL;
  lua_Integer n = lua_tointegerx(L, -1, &ok);
  if (there && (!ok || n < 1))
    luaL_error(L, "style 'limit': a whole number from 1 on expected, got %s",
               luaL_tolstring(L, -1, NULL));
  lua_pop(L, 1);
  return there ? (uint64_t)n : 0;
}

/* A log replaces what was in the file: it is of one run. Closed when the
   process becomes another program (O_CLOEXEC), which has nothing to write
   there. */
int tg_logstyle_open (lua_State *L, int i) {
  int fd, top = lua_gettop(L);
  if (lua_getfield(L, i, "path") == LUA_TSTRING)
    fd = tg_newfile_open(lua_tostring(L, -1));
  else
    fd = (int)field_number(L, i, "fd", STDERR_FILENO);
  lua_settop(L, top);
  return fd;
}

/* A width of 0 is: as wide as what is behind it. Called again when the
   descriptor is known, for the colour depends on that. */
void tg_logstyle_read (lua_State *L, int i, int fd, tg_LogStyle *style) {
  *style = (tg_LogStyle){
    .color = field_bool(L, i, "color", tg_log_wants_color(fd)),
    .times = field_bool(L, i, "times", true),
    .summary = field_bool(L, i, "summary", true),
    .width = field_number(L, i, "width", 0),
    .live = field_bool(L, i, "live", false),
    .limit = field_limit(L, i)
  };
}
