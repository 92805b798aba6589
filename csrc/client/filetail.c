/*
** filetail.c - see filetail.h. Used by the command that records and sends at
** once, on the thread of its state.
*/
#include <errno.h>
#include <string.h>

#include "client/filetail.h"
#include "base/alloc.h"
#include "channel/tailreader.h"

#define TG_FILETAIL "tracegrip.Tail"

enum {SELF = 1};

/* One that was closed has no path. */
static tg_TailReader *check_tail (lua_State *L) {
  return luaL_checkudata(L, SELF, TG_FILETAIL);
}

static int filetail_read (lua_State *L) {
  tg_TailReader *t = check_tail(L);
  if (t->path == NULL)
    return 0;
  if (!tg_tailreader_read(t)) {
    errno = t->error;
    return luaL_fileresult(L, 0, t->path);
  }
  if (t->out.size == 0)
    return 0;
  lua_pushlstring(L, t->out.data, t->out.size);
  return 1;
}

static int filetail_open (lua_State *L) {
  tg_TailReader *t = check_tail(L);
  lua_pushboolean(L, t->path != NULL && tg_tailreader_open(t));
  return 1;
}

static int filetail_over (lua_State *L) {
  tg_TailReader *t = check_tail(L);
  lua_pushboolean(L, t->path != NULL && tg_tailreader_is_over(t));
  return 1;
}

static int filetail__gc (lua_State *L) {
  tg_tailreader_free(lua_touserdata(L, SELF));
  return 0;
}

int filetail_new (lua_State *L) {
  size_t size;
  const char *path = luaL_checklstring(L, 1, &size);
  uint32_t run = (uint32_t)luaL_checkinteger(L, 2);
  tg_TailReader *t = lua_newuserdatauv(L, sizeof *t, 0);
  memset(t, 0, sizeof *t);
  luaL_setmetatable(L, TG_FILETAIL);
  t->fd = -1;
  t->run = run;
  t->path = tg_strdup(path, size);
  return t->path != NULL ? 1 : luaL_error(L, "not enough memory");
}

void tg_filetail_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"read", filetail_read},
    {"open", filetail_open},
    {"over", filetail_over},
    {"close", filetail__gc},
    {"__gc", filetail__gc},
    {"__close", filetail__gc},
    {"__metatable", NULL},
    {NULL, NULL}
  };
  lx_class(L, TG_FILETAIL, methods);
}
