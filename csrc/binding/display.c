/*
** display.c - see display.h. For lua/tracegrip/cli/columns.lua, on the thread
** of its state. Raises for what is no string, and if there is no memory.
*/
#include "binding/display.h"
#include "base/buf.h"
#include "text/terminal.h"

static int buf__gc (lua_State *L) {
  tg_buf_free(lua_touserdata(L, 1));
  return 0;
}

/* An empty buffer that Lua owns: pushing its text may raise, and nobody else
   could free it then. */
static tg_Buf *push_buf (lua_State *L) {
  return lx_owner(L, sizeof(tg_Buf), 0, "tracegrip.buf", buf__gc);
}

/* escaped(text): as it may be shown on a terminal, where control characters
   could do anything. */
int display_escaped (lua_State *L) {
  size_t size;
  const char *s = luaL_checklstring(L, 1, &size);
  tg_Buf *out = push_buf(L);
  tg_terminal_escape(out, s, size, 0);
  if (out->failed)
    return luaL_error(L, "not enough memory");
  lua_pushlstring(L, out->size > 0 ? out->data : "", out->size);
  tg_buf_free(out);         /* now, and not when the collector comes by */
  return 1;
}

/* textwidth(text): the columns that it takes there. */
int display_textwidth (lua_State *L) {
  size_t size;
  const char *s = luaL_checklstring(L, 1, &size);
  lua_pushinteger(L, (lua_Integer)tg_terminal_columns(s, size));
  return 1;
}
