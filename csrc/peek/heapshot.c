/* heapshot.c - see heapshot.h. What is being looked at belongs to a userdata,
   so an error of Lua's frees it. */
#include "peek/heapshot.h"

#include <errno.h>
#include <string.h>

#include "heap/capture.h"
#include "heap/moment.h"
#include "outside/state.h"
#include "text/newfile.h"

#define SHOOTING "tracegrip.heapshot"

typedef struct Shot {
  tg_Target target;     /* owns, as all here */
  tg_Moment moment;
  tg_Graph graph;
  tg_OutFile out;
  bool writing;
  tg_CaptureSums sums;
  tg_Buf words;
} Shot;

static int shot__gc (lua_State *L) {
  Shot *s = lua_touserdata(L, 1);
  if (s->writing)
    tg_outfile_close(&s->out);
  tg_graph_free(&s->graph);
  tg_moment_free(&s->moment);
  tg_target_close(&s->target);
  tg_buf_free(&s->words);
  memset(s, 0, sizeof *s);
  return 0;
}

static int refuse (lua_State *L, const Shot *s, const char *code) {
  lua_pushnil(L);
  lua_pushlstring(L, s->words.data, s->words.size);
  lua_pushstring(L, code);
  return 3;
}

static tg_Refusal open_target (lua_State *L, Shot *s) {
  if (lua_isinteger(L, 1))
    return tg_target_process(&s->target, (int)lua_tointeger(L, 1), NULL,
                             &s->words);
  lua_getfield(L, 3, "exe");
  lua_getfield(L, 3, "sysroot");
  return tg_target_core(&s->target, luaL_checkstring(L, 1),
                        lua_tostring(L, -2), lua_tostring(L, -1), &s->words);
}

static bool write_file (Shot *s, const char *path) {
  char release[TG_RELEASE_TEXT];
  tg_sight_release(s->target.sight.release, release);
  tg_SnapshotHead head = {
    .lua = release, .pid = s->target.memory.pid, .objects = s->sums.objects,
    .state_bytes = s->sums.state_bytes, .low = s->moment.image.low,
    .high = s->moment.image.high};
  if (!tg_outfile_open(&s->out, path))
    return false;
  s->writing = true;
  tg_snapshot_write(&s->graph, &head, &s->out);
  s->writing = false;
  bool whole = tg_outfile_close(&s->out);
  if (!whole)
    tg_newfile_drop(path);
  return whole;
}

static void push_result (lua_State *L, const Shot *s) {
  char release[TG_RELEASE_TEXT];
  tg_sight_release(s->target.sight.release, release);
  lua_newtable(L);
  lx_set_integer(L, "objects", (lua_Integer)s->sums.objects);
  lx_set_integer(L, "bytes", (lua_Integer)s->sums.bytes);
  lx_set_integer(L, "state_bytes", (lua_Integer)s->sums.state_bytes);
  lx_set_integer(L, "garbage", (lua_Integer)s->sums.garbage);
  lx_set_integer(L, "distant", (lua_Integer)s->sums.distant);
  lx_set_integer(L, "states", (lua_Integer)s->target.found.nstates);
  lx_set_integer(L, "tries", (lua_Integer)s->moment.tries);
  lx_set_string(L, "lua", release);
  lua_pushnumber(L, (lua_Number)s->moment.stopped_ns / 1e6);
  lua_setfield(L, -2, "stopped_ms");
  if (s->moment.left != 0)
    lx_set_integer(L, "left", s->moment.left);
}

/* The state with the most objects is the program's: others are small. */
static uint32_t largest (Shot *s) {
  const tg_Sight *sight = &s->target.sight;
  uint32_t best = 0;
  uint64_t most = 0;
  for (uint32_t i = 0; i < s->target.found.nstates; i++) {
    uint64_t bytes = tg_state_bytes(sight, s->target.found.shareds[i]);
    if (bytes > most) {
      most = bytes;
      best = i;
    }
  }
  return best;
}

int heapshot_take (lua_State *L) {
  const char *path = luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  Shot *s = lx_owner(L, sizeof *s, 0, SHOOTING, shot__gc);
  tg_Refusal refusal = open_target(L, s);
  if (refusal != TG_REFUSED_NOT)
    return refuse(L, s, tg_target_code(refusal));
  uint32_t n = largest(s);
  lua_getfield(L, 3, "fork");
  if (!tg_moment_take(&s->moment, &s->target, n, lua_toboolean(L, -1),
                      &s->words))
    return refuse(L, s, "gone");
  if (!tg_capture(&s->graph, &s->moment.heap, &s->sums)) {
    tg_buf_addstr(&s->words, "not enough memory");
    return refuse(L, s, "failed");
  }
  if (!write_file(s, path)) {
    tg_buf_addfmt(&s->words, "%s: %s", path, tg_newfile_words(errno));
    return refuse(L, s, "failed");
  }
  push_result(L, s);
  return 1;
}
