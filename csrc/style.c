#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "style.h"

static bool is_known (lua_State *L, int i) {
  static const char *const known[] = {
    "path", "fd", "color", "times", "summary", "width"
  };
  const char *key = lua_type(L, i) == LUA_TSTRING ? lua_tostring(L, i) : "";
  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    if (strcmp(key, known[k]) == 0)
      return true;
  }
  return false;
}

void tg_style_check (lua_State *L, int i) {
  lua_pushnil(L);
  while (lua_next(L, i)) {
    if (!is_known(L, -2))
      luaL_error(L, "unknown style '%s' (known: path, fd, color, times, "
                 "summary, width)", luaL_tolstring(L, -2, NULL));
    lua_pop(L, 1);
  }
}

static bool field_bool (lua_State *L, int i, const char *name, bool absent) {
  bool b = (lua_getfield(L, i, name) == LUA_TNIL) ? absent
                                                  : lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

int tg_style_open (lua_State *L, int i) {
  int fd = STDERR_FILENO, top = lua_gettop(L);
  if (lua_getfield(L, i, "path") == LUA_TSTRING)
    fd = open(lua_tostring(L, -1), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
              0666);
  else if (lua_getfield(L, i, "fd") != LUA_TNIL)
    fd = (int)luaL_checkinteger(L, -1);
  lua_settop(L, top);
  return fd;
}

void tg_style_read (lua_State *L, int i, int fd, tg_LogStyle *style) {
  style->color = field_bool(L, i, "color", tg_log_wants_color(fd));
  style->times = field_bool(L, i, "times", true);
  style->summary = field_bool(L, i, "summary", true);
  lua_getfield(L, i, "width");
  style->width = (uint32_t)luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
}
