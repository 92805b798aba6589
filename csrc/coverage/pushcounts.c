/*
** pushcounts.c - see pushcounts.h.
*/
#include "coverage/pushcounts.h"

#include <string.h>

static void push_lines (lua_State *L, const tg_FunctionCounts *f) {
  lua_createtable(L, 0, 0);
  for (uint32_t at = 0, n = tg_counts_extent(f); at < n; at++) {
    uint64_t times = tg_counts_of(f, at);
    if (times > 0) {
      lua_pushinteger(L, (lua_Integer)times);
      lua_rawseti(L, -2, (lua_Integer)f->first + at);
    }
  }
}

/* A file's name ends where C's strings do, as for whoever has opened it. */
static void set_source (lua_State *L, const tg_Text *source, bool places) {
  const char *end = places ? memchr(source->data, '\0', source->size) : NULL;
  size_t size = (end != NULL) ? (size_t)(end - source->data) : source->size;
  lua_pushlstring(L, source->data, size);
  lua_setfield(L, -2, "source");
  if (end != NULL) {
    lua_pushlstring(L, end + 1, source->size - size - 1);
    lua_setfield(L, -2, "directory");
  }
}

static void push_function (lua_State *L, const tg_Text *source,
                           const tg_FunctionCounts *f, bool places) {
  lua_createtable(L, 0, 6);
  set_source(L, source, places);
  lx_set_integer(L, "first", f->first);
  lx_set_integer(L, "last", f->last);
  lx_set_integer(L, "calls", (lua_Integer)f->found->calls);
  push_lines(L, f);
  lua_setfield(L, -2, "lines");
}

void tg_pushcounts (const tg_Counts *c, lua_State *L, bool places) {
  lua_Integer n = 0;
  luaL_checkstack(L, 6, NULL);
  lua_createtable(L, 0, 0);
  for (uint32_t i = 0; i < c->nsources; i++) {
    const tg_SourceCounts *s = &c->sources[i];
    for (uint32_t k = 0; k < s->nfunctions; k++) {
      push_function(L, tg_texts_get(&c->texts, i + 1), s->functions[k],
                    places);
      lua_rawseti(L, -2, ++n);
    }
  }
}
