/* ownheap.c - see ownheap.h. */
#include "peek/ownheap.h"

#include <errno.h>
#include <string.h>

#include "peek/birthmarks.h"
#include "peek/picture.h"
#include "text/newfile.h"

#define PICTURE "tracegrip.picture"

static int push_failure (lua_State *L, const char *path, int error) {
  lua_pushnil(L);
  lua_pushfstring(L, "%s: %s", path, tg_newfile_words(error));
  lua_pushinteger(L, error);
  return 3;
}

static int push_result (lua_State *L, tg_Picture *p, const char *path) {
  tg_PictureSaid said = {0};
  bool ours = tg_picture_is_ours(p);
  if (!tg_picture_hear(p, &said)) {
    if (ours && tg_snapshot_is_unfinished(path))
      tg_newfile_drop(path);
    lua_pushnil(L);
    lua_pushstring(L, ours ? "the process that wrote the snapshot has ended"
                           : "the snapshot is another process's");
    lua_pushliteral(L, "failed");
    return 3;
  }
  if (said.error != 0)
    return push_failure(L, path, said.error);
  tg_picture_push(L, &said, p->stopped_ms);
  return 1;
}

/* ---- a picture that is not waited for ---- */

static int picture__gc (lua_State *L) {
  tg_Picture *p = lua_touserdata(L, 1);
  tg_PictureSaid said;
  if (p->child > 0)
    tg_picture_hear(p, &said);
  return 0;
}

static int picture__call (lua_State *L) {
  tg_Picture *p = luaL_checkudata(L, 1, PICTURE);
  lua_getiuservalue(L, 1, 1);
  if (p->child > 0) {
    int n = push_result(L, p, lua_tostring(L, -1));
    if (n == 1) {
      lua_pushvalue(L, -1);
      lua_setiuservalue(L, 1, 2);
    }
    return n;
  }
  lua_getiuservalue(L, 1, 2);
  if (!lua_isnil(L, -1))
    return 1;
  lua_pushliteral(L, "the snapshot has failed");
  lua_pushliteral(L, "failed");
  return 3;
}

static int picture__index (lua_State *L) {
  const tg_Picture *p = luaL_checkudata(L, 1, PICTURE);
  if (strcmp(luaL_checkstring(L, 2), "stopped_ms") == 0)
    lua_pushnumber(L, p->stopped_ms);
  else
    lua_pushnil(L);
  return 1;
}

static const luaL_Reg methods[] = {
  {"__gc", picture__gc},
  {"__call", picture__call},
  {"__index", picture__index},
  {NULL, NULL}
};

void tg_ownheap_setup (lua_State *L) {
  lx_class(L, PICTURE, methods);
}

static int push_picture (lua_State *L, tg_Picture *from) {
  tg_Picture *p = lua_newuserdatauv(L, sizeof *p, 2);
  *p = *from;
  luaL_setmetatable(L, PICTURE);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

/* False with errno. */
static bool number_births (tg_Births *b, const tg_Ourselves *ours) {
  if (b == NULL || tg_birthmarks_number(b, ours))
    return true;
  errno = ENOMEM;
  return false;
}

/* The table there: names of files to their numbers. Without memory some are not
   known. */
static void read_scripts (lua_State *L, int i, tg_ScriptIds *scripts) {
  if (!lua_istable(L, i))
    return;
  for (lua_pushnil(L); lua_next(L, i) != 0; lua_pop(L, 1)) {
    size_t size;
    const char *name = lua_type(L, -2) == LUA_TSTRING
                       ? lua_tolstring(L, -2, &size) : NULL;
    if (name != NULL && lua_isinteger(L, -1))
      (void)tg_scriptids_add(scripts, name, size,
                             (uint32_t)lua_tointeger(L, -1));
  }
}

static const char *check_path (lua_State *L, int i) {
  const char *path = luaL_checkstring(L, i);
  size_t n = strlen(path);
  luaL_argcheck(L, n < 3 || strcmp(path + n - 3, ".gz") != 0, i,
                "a snapshot is not compressed");
  luaL_argcheck(L, strcmp(path, "-") != 0, i, "a snapshot has a file");
  return path;
}

/* Nothing is made in the state before the copy has been. */
int ownheap_snapshot (lua_State *L) {
  const char *path = check_path(L, 1);
  tg_Picture p = {.pipe = -1};
  bool wait = lua_toboolean(L, 2);
  tg_Births *births = tg_birthmarks_opt(L, 3);
  tg_Ourselves ours;
  const char *objection = tg_ourselves_open(&ours, lx_mainthread(L));
  tg_PictureOrder order = {.ours = &ours, .path = path, .births = births,
                           .tracer.trace = tg_memorytrace_find(L, wait)};
  tg_ScriptIds scripts = {.ids = NULL};
  read_scripts(L, 4, &scripts);
  order.tracer.trace.scripts = &scripts;
  bool begun = objection == NULL && number_births(births, &ours)
               && tg_picture_begin(&p, &order);
  int error = errno;
  tg_scriptids_free(&scripts);
  tg_ourselves_close(&ours);
  if (objection != NULL) {
    lua_pushnil(L);
    lua_pushstring(L, objection);
    lua_pushliteral(L, "unknown");
    return 3;
  }
  if (!begun)
    return push_failure(L, path, error);
  return wait ? push_result(L, &p, path) : push_picture(L, &p);
}
