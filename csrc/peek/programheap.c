/* programheap.c - see programheap.h. */
#include "peek/programheap.h"

#include <errno.h>
#include <string.h>

#include "outside/state.h"
#include "peek/picture.h"
#include "server/clientchannel.h"
#include "text/newfile.h"

#define CLASS "tracegrip.programpicture"
#define LOOKING "tracegrip.programheap"
#define GAUGE "tracegrip.heapgauge"

/* ---- the state ---- */

static int looking__gc (lua_State *L) {
  tg_ourselves_close(lua_touserdata(L, 1));
  return 0;
}

static int refuse (lua_State *L, const char *code, const char *words) {
  lua_pushnil(L);
  lua_pushstring(L, words);
  lua_pushstring(L, code);
  return 3;
}

/* Pushes the userdata; NULL: pushes nil, message, code instead. */
static tg_Ourselves *look (lua_State *L, tg_Channel *channel) {
  uint64_t state = tg_channel_state(channel);
  if (state == 0) {
    refuse(L, "gone", "the program's state is closed");
    return NULL;
  }
  tg_Ourselves *o = lx_owner(L, sizeof *o, 1, LOOKING, looking__gc);
  const char *objection = tg_ourselves_open(o, (void *)(uintptr_t)state);
  if (objection == NULL)
    return o;
  refuse(L, "unknown", objection);
  return NULL;
}

static uint64_t bytes_of (tg_Ourselves *o) {
  tg_Sight sight = {.memory = &o->memory, .release = o->release,
                    .layout = o->layout};
  return tg_state_bytes(&sight, tg_sight_word(&sight, o->main,
                                              AT_STATE_SHARED));
}

/* Which Lua it is was found out once: what is read here are two words. */
static int gauge__call (lua_State *L) {
  tg_Ourselves *o = luaL_checkudata(L, 1, GAUGE);
  lua_settop(L, 1);
  lua_getiuservalue(L, 1, 1);
  if (tg_channel_state(tg_clientchannel_check(L, 2)) != o->main)
    return refuse(L, "gone", "the program's state is closed");
  tg_memory_forget(&o->memory);
  lua_pushinteger(L, (lua_Integer)bytes_of(o));
  return 1;
}

int programheap_gauge (lua_State *L) {
  lua_settop(L, 1);
  tg_Ourselves *o = look(L, tg_clientchannel_check(L, 1));
  if (o == NULL)
    return 3;
  luaL_setmetatable(L, GAUGE);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

/* ---- pictures ---- */

static int picture__gc (lua_State *L) {
  tg_picture_drop(lua_touserdata(L, 1));
  return 0;
}

/* Of what the program hides a client sees nothing, and a snapshot has every
   string: so into the pipe, which is a client's, goes none. */
static bool hides (const tg_Channel *channel, const char *path) {
  return path == NULL && channel->host.redact.count > 0;
}

int programheap_picture (lua_State *L) {
  tg_Channel *channel = tg_clientchannel_check(L, 1);
  const char *path = luaL_optstring(L, 2, NULL);
  bool strict = lua_toboolean(L, 3);
  if (hides(channel, path))
    return refuse(L, "hidden", "the program hides values (redact), and a "
                  "snapshot has them all");
  tg_Picture *p = lua_newuserdatauv(L, sizeof *p, 0);
  *p = (tg_Picture){.pipe = -1};
  luaL_setmetatable(L, CLASS);
  tg_Ourselves *o = look(L, channel);
  if (o == NULL)
    return 3;
  tg_PictureOrder order = {.ours = o, .path = path, .strict = strict,
                           .tracer.main = (void *)(uintptr_t)o->main};
  if (!tg_picture_begin(p, &order)) {
    p->child = 0;
    return refuse(L, "failed", strerror(errno));
  }
  tg_ourselves_close(o);
  memset(o, 0, sizeof *o);
  lua_pop(L, 1);
  return 1;
}

static tg_Picture *check (lua_State *L) {
  return luaL_checkudata(L, 1, CLASS);
}

static int picture_release (lua_State *L) {
  tg_Picture *p = check(L);
  lua_pushinteger(L, p->pipe);
  p->pipe = -1;
  return 1;
}

static int picture_said (lua_State *L) {
  tg_Picture *p = check(L);
  tg_PictureSaid said;
  size_t size;
  const char *bytes = luaL_checklstring(L, 2, &size);
  if (size < sizeof said)
    return 0;
  memcpy(&said, bytes, sizeof said);
  if (said.error == EAGAIN)
    return refuse(L, "again", "the program was in the middle of something");
  else if (said.error != 0)
    return refuse(L, "failed", tg_newfile_words(said.error));
  tg_picture_push(L, &said, p->stopped_ms);
  lua_pushinteger(L, (lua_Integer)sizeof said);
  return 2;
}

static int picture_await (lua_State *L) {
  lua_pushboolean(L, tg_picture_await(check(L)));
  return 1;
}

static int picture_drop (lua_State *L) {
  tg_picture_drop(check(L));
  return 0;
}

void tg_programheap_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"release", picture_release},
    {"said", picture_said},
    {"await", picture_await},
    {"drop", picture_drop},
    {"__gc", picture__gc},
    {NULL, NULL}
  };
  static const luaL_Reg gauge[] = {
    {"__call", gauge__call},
    {"__gc", looking__gc},
    {NULL, NULL}
  };
  lx_class(L, CLASS, methods);
  lx_class(L, GAUGE, gauge);
}
