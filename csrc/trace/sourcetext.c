/*
** sourcetext.c - see sourcetext.h. On the thread that runs the state.
**
** A recording may come from anywhere and name any file: what is read here is
** for the user's own eyes, and goes into no document.
*/
#include "trace/sourcetext.h"

#include <string.h>

#include "base/alloc.h"
#include "state/session.h"
#include "stream/sources.h"
#include "trace/readtrace.h"

static int sourcetext__gc (lua_State *L) {
  tg_Buf *text = lua_touserdata(L, 1);
  tg_buf_free(text);
  memset(text, 0, sizeof *text);
  return 0;
}

/* Whether the source is a file, and the last line that any function of it
   has. */
static bool is_file (const tg_Functions *fs, const char *url,
                     uint32_t *last_line) {
  uint32_t count = atomic_load(&((tg_Functions *)(uintptr_t)fs)->count);
  bool found = false;
  *last_line = 0;
  for (uint32_t id = 1; id <= count; id++) {
    const tg_Function *f = tg_functions_get(fs, id);
    if (!f->file || f->url == NULL || strcmp(f->url, url) != 0)
      continue;
    found = true;
    if (f->last_line > *last_line)
      *last_line = f->last_line;
  }
  return found;
}

/* Pushes the path: a relative one is that of the program, which may have run
   elsewhere. */
static const char *push_path (lua_State *L, const tg_Stream *s,
                              const char *url) {
  if (url[0] == '/' || s->directory == NULL)
    return lua_pushstring(L, url);
  return lua_pushfstring(L, "%s/%s", s->directory,
                         strncmp(url, "./", 2) == 0 ? url + 2 : url);
}

static int push_text (lua_State *L, const tg_Buf *text, int from) {
  if (text->failed)
    return luaL_error(L, "not enough memory");
  lua_pushlstring(L, text->data, text->size);
  lua_pushvalue(L, from);
  return 2;
}

/* nil, why, path. */
static int push_reason (lua_State *L, const char *why, int path) {
  luaL_pushfail(L);
  lua_pushstring(L, why);
  lua_pushvalue(L, path);
  return 3;
}

int trace_sourcetext (lua_State *L) {
  const tg_Trace *t = tg_readtrace_check(L);
  const char *url = luaL_checkstring(L, 2);
  uint32_t last_line;
  lua_settop(L, 2);
  tg_Buf *text = lx_owner(L, sizeof *text, 0, "tracegrip.sourcetext",
                          sourcetext__gc);
  lua_pushliteral(L, "recording");
  if (tg_stream_source(t->stream, url, text))
    return push_text(L, text, 4);
  tg_buf_clear(text);
  if (!is_file(t->stream->functions, url, &last_line))
    return push_reason(L, "unknown", 2);
  const char *path = push_path(L, t->stream, url);
  switch (tg_sources_file(path, t->stream->wall_ns, last_line, text)) {
    case TG_SOURCE_READ: return push_text(L, text, 5);
    case TG_SOURCE_ABSENT: return push_reason(L, "absent", 5);
    case TG_SOURCE_CHANGED: return push_reason(L, "changed", 5);
    default: tg_unreachable();
  }
}
