#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "livelog.h"
#include "log.h"
#include "optread.h"
#include "trace.h"

static bool field_bool (lua_State *L, int i, const char *name, bool absent) {
  bool b = (lua_getfield(L, i, name) == LUA_TNIL) ? absent
                                                  : lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

/* The descriptor to write to, -1 with errno if the file cannot be had. */
static int open_target (lua_State *L, int i) {
  int fd = STDERR_FILENO, top = lua_gettop(L);
  if (lua_getfield(L, i, "path") == LUA_TSTRING)
    fd = open(lua_tostring(L, -1), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
              0666);
  else if (lua_getfield(L, i, "fd") != LUA_TNIL)
    fd = (int)luaL_checkinteger(L, -1);
  lua_settop(L, top);
  return fd;
}

static void read_style (lua_State *L, int i, int fd, tg_LogStyle *style) {
  style->color = field_bool(L, i, "color", tg_log_wants_color(fd));
  style->times = field_bool(L, i, "times", true);
  style->summary = field_bool(L, i, "summary", true);
  lua_getfield(L, i, "width");
  style->width = (uint32_t)luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
}

static bool attach (tg_Trace *t, const tg_LogStyle *style, int fd) {
  tg_Demand d = {0};
  if (tg_demand_add(&d, &t->options))
    t->log = tg_log_new(t->stream, t->start, &d, style, fd);
  tg_demand_clear(&d);
  return t->log != NULL;
}

int livelog_start (lua_State *L) {
  tg_LogStyle style;
  lua_settop(L, 2);
  luaL_checktype(L, 2, LUA_TTABLE);
  tg_Trace *t = tg_trace_new(L);
  tg_options_read(L, 1, NULL, &t->options);
  int fd = open_target(L, 2);
  if (fd < 0) {
    lua_getfield(L, 2, "path");
    return luaL_fileresult(L, 0, lua_tostring(L, -1));
  }
  read_style(L, 2, fd, &style);
  tg_trace_begin(L, t, NULL, TG_ORIGIN_LOG, NULL);
  tg_trace_anchor(L, t);
  bool attached = attach(t, &style, fd);
  if (lua_getfield(L, 2, "path") == LUA_TSTRING)
    close(fd);            /* the log has a duplicate */
  lua_pop(L, 1);
  if (!attached) {
    tg_trace_halt(L, t);
    return luaL_error(L, "not enough memory");
  }
  t->session->logging = t->session->attention = true;
  return 1;
}
