#include <fcntl.h>
#include <unistd.h>

#include "style.h"

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
