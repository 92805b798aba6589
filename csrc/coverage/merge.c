/*
** merge.c - see merge.h. All that is read is freed whatever Lua raises: it
** belongs to a userdata.
*/
#include "coverage/merge.h"

#include <string.h>

#include "counts/ledgerreader.h"
#include "coverage/pushcounts.h"
#include "text/fileio.h"

#define LARGEST ((size_t)1 << 30)       /* file */

typedef struct Merge {
  tg_Counts counts;
  tg_Buf file;
} Merge;

enum { PATHS = 1, PROBLEMS = 3 };    /* on the stack */

static int merge__gc (lua_State *L) {
  Merge *m = lua_touserdata(L, 1);
  tg_counts_free(&m->counts);
  tg_buf_free(&m->file);
  return 0;
}

/* The path is on top of the stack. */
static void note (lua_State *L, const tg_LedgerInfo *info, const char *what) {
  lua_createtable(L, 0, 3);
  if (info->process != 0)
    lx_set_integer(L, "process", (lua_Integer)info->process);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, "path");
  lua_pushstring(L, what);
  lua_setfield(L, -2, "what");
  lua_rawseti(L, PROBLEMS, (lua_Integer)lua_rawlen(L, PROBLEMS) + 1);
}

/* The path is on top of the stack. */
static void add_file (lua_State *L, Merge *m) {
  tg_LedgerInfo info = {0, 0};
  tg_buf_clear(&m->file);
  if (!tg_fileio_text(luaL_checkstring(L, -1), LARGEST, &m->file)) {
    note(L, &info, "cannot be read");
    return;
  }
  tg_LedgerState state = tg_ledgerreader_add(
    &m->counts, (m->file.data != NULL) ? m->file.data : "", m->file.size,
    &info);
  if (state == TG_LEDGER_MEMORY)
    luaL_error(L, "not enough memory");
  else if (state == TG_LEDGER_BROKEN)
    note(L, &info, "not a complete file of counts");
  if (info.error != 0)
    note(L, &info, strerror(info.error));
}

int merge_counts (lua_State *L) {
  luaL_checktype(L, PATHS, LUA_TTABLE);
  lua_settop(L, PATHS);
  Merge *m = lx_owner(L, sizeof *m, 0, "tracegrip.merge", merge__gc);
  lua_newtable(L);
  lua_Integer n = luaL_len(L, PATHS);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, PATHS, i);
    add_file(L, m);
    lua_pop(L, 1);
  }
  tg_pushcounts(&m->counts, L, true);
  lua_pushvalue(L, PROBLEMS);
  return 2;
}
