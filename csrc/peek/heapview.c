/* heapview.c - see heapview.h. Files are read one after the other, and belong
   to a userdata with all that is made of them. */
#include "peek/heapview.h"

#include <string.h>

#include "base/alloc.h"
#include "binding/luasink.h"
#include "graph/comparison.h"
#include "text/jsonwriter.h"

#define VIEWING "tracegrip.heapview"
#define FILES_MOST 64

typedef struct Viewing {
  tg_View views[FILES_MOST];    /* owns, as all here */
  int count;
  tg_Buf text, words;
  uint32_t most;
  uint64_t id;
  const char *word;     /* pinned by the request */
} Viewing;

static int viewing__gc (lua_State *L) {
  Viewing *v = lua_touserdata(L, 1);
  for (int i = 0; i < v->count; i++)
    tg_view_close(&v->views[i]);
  tg_buf_free(&v->text);
  tg_buf_free(&v->words);
  memset(v, 0, sizeof *v);
  return 0;
}

static int fail (lua_State *L, const Viewing *v) {
  lua_pushnil(L);
  lua_pushlstring(L, v->words.data, v->words.size);
  lua_pushliteral(L, "failed");
  return 3;
}

/* ---- what can be asked ---- */

typedef bool Answer (Viewing *v, tg_Sink *out);

static bool summary (Viewing *v, tg_Sink *out) {
  return tg_view_summary(v->views, v->most, out);
}

static bool paths (Viewing *v, tg_Sink *out) {
  uint32_t node = tg_graph_find(&v->views->graph, v->id);
  return tg_view_paths(v->views, node, v->most, out);
}

static bool find (Viewing *v, tg_Sink *out) {
  return tg_view_find(v->views, v->word, v->most, out);
}

static bool duplicates (Viewing *v, tg_Sink *out) {
  return tg_view_duplicates(v->views, v->most, out);
}

static bool empty (Viewing *v, tg_Sink *out) {
  return tg_view_empty(v->views, v->most, out);
}

static bool makers (Viewing *v, tg_Sink *out) {
  return tg_view_makers(v->views, v->most, out);
}

static bool diff (Viewing *v, tg_Sink *out) {
  return tg_comparison_diff(&v->views[0], &v->views[1], v->most, out);
}

static bool growing (Viewing *v, tg_Sink *out) {
  return tg_comparison_growing(v->views, (uint32_t)v->count, v->most, out);
}

static const char *const questions[] = {
  "summary", "paths", "find", "duplicates", "empty", "makers", "diff",
  "growing", NULL
};

static Answer *const answers[] = {
  summary, paths, find, duplicates, empty, makers, diff, growing
};

/* ---- the request ---- */

static void take_request (lua_State *L, Viewing *v) {
  lua_getfield(L, 1, "limit");
  lua_getfield(L, 1, "id");
  lua_getfield(L, 1, "word");
  v->most = (uint32_t)luaL_optinteger(L, -3, 20);
  v->id = (uint64_t)luaL_optinteger(L, -2, 0);
  v->word = luaL_optstring(L, -1, "");
}

static bool open_files (lua_State *L, Viewing *v) {
  lua_getfield(L, 1, "files");
  luaL_checktype(L, -1, LUA_TTABLE);
  lua_Integer n = luaL_len(L, -1);
  if (n > FILES_MOST) {
    tg_buf_addfmt(&v->words, "more than %d snapshots", FILES_MOST);
    return false;
  }
  for (int i = 0; i < (int)n; i++) {
    lua_rawgeti(L, -1, i + 1);
    const char *path = luaL_checkstring(L, -1);
    v->count = i + 1;
    if (!tg_view_open(&v->views[i], path, &v->words)) {
      lua_pushfstring(L, "%s: ", path);
      size_t size = lua_rawlen(L, -1);
      bool named = v->words.size >= size - 2
                   && memcmp(v->words.data, path, size - 2) == 0;
      if (!named && tg_buf_reserve(&v->words, size)) {
        memmove(v->words.data + size, v->words.data, v->words.size);
        memcpy(v->words.data, lua_tostring(L, -1), size);
        v->words.size += size;
      }
      return false;
    }
    lua_pop(L, 1);
  }
  return true;
}

static bool wants_json (lua_State *L) {
  lua_getfield(L, 1, "json");
  return lua_toboolean(L, -1) != 0;
}

int heapview_ask (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  Viewing *v = lx_owner(L, sizeof *v, 0, VIEWING, viewing__gc);
  lua_getfield(L, 1, "what");
  int question = luaL_checkoption(L, -1, NULL, questions);
  take_request(L, v);
  if (!open_files(L, v))
    return fail(L, v);
  if (answers[question] == paths
      && tg_graph_find(&v->views->graph, v->id) == UINT32_MAX) {
    tg_buf_addfmt(&v->words, "no object has the id %llu",
                  (unsigned long long)v->id);
    return fail(L, v);
  }
  bool json = wants_json(L), done;
  if (json) {
    tg_JsonWriter writer;
    tg_jsonwriter_init(&writer, &v->text);
    done = answers[question](v, &writer.sink) && !v->text.failed;
    lua_pushlstring(L, v->text.data, v->text.size);
  }
  else {
    tg_LuaSink sink;
    tg_luasink_init(&sink, L);
    done = answers[question](v, &sink.sink);
  }
  return done ? 1 : luaL_error(L, "not enough memory");
}
