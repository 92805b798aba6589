/* heapexport.c - see heapexport.h. */
#include "peek/heapexport.h"

#include <errno.h>
#include <string.h>

#include "graph/heappage.h"

#define EXPORTING "tracegrip.heapexport"

typedef struct Exporting {
  tg_View view;         /* owns, as all here */
  tg_Buf words;
} Exporting;

static int exporting__gc (lua_State *L) {
  Exporting *e = lua_touserdata(L, 1);
  tg_view_close(&e->view);
  tg_buf_free(&e->words);
  memset(e, 0, sizeof *e);
  return 0;
}

/* A message of the reader has the file's name where it could not be opened, and
   a place in it otherwise. */
static int fail (lua_State *L, const Exporting *e, const char *path) {
  size_t size = strlen(path);
  bool named = e->words.size >= size
               && memcmp(e->words.data, path, size) == 0;
  lua_pushnil(L);
  lua_pushstring(L, named ? "" : path);
  lua_pushstring(L, named ? "" : ": ");
  lua_pushlstring(L, e->words.data, e->words.size);
  lua_concat(L, 3);
  lua_pushliteral(L, "failed");
  return 3;
}

static const char *field (lua_State *L, const char *name) {
  lua_getfield(L, 1, name);
  return luaL_checkstring(L, -1);
}

static tg_HeapPage read_request (lua_State *L) {
  tg_HeapPage h = {.title = field(L, "title"), .page = field(L, "page")};
  lua_getfield(L, 1, "limit");
  h.most = (uint32_t)luaL_optinteger(L, -1, TG_EXTRACT_MOST);
  return h;
}

static int push_result (lua_State *L, const tg_HeapPage *h, uint64_t bytes) {
  lua_createtable(L, 0, 3);
  lx_set_integer(L, "objects", (lua_Integer)h->objects);
  lx_set_integer(L, "shown", (lua_Integer)h->shown);
  lx_set_integer(L, "bytes", (lua_Integer)bytes);
  return 1;
}

/* Nothing raises while the output is open: it is on the C stack. */
int heapexport_page (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  Exporting *e = lx_owner(L, sizeof *e, 0, EXPORTING, exporting__gc);
  const char *file = field(L, "file"), *path = field(L, "out");
  tg_HeapPage h = read_request(L);
  if (!tg_view_open(&e->view, file, &e->words))
    return fail(L, e, file);
  tg_OutFile out;
  if (!tg_outfile_open(&out, path))
    return lx_failure(L, path);
  bool done = tg_heappage_write(&h, &e->view, &out);
  bool closed = tg_outfile_close(&out);
  if (!done || !closed) {
    errno = done ? errno : ENOMEM;
    return lx_failure(L, path);
  }
  return push_result(L, &h, out.bytes);
}
