/*
** luatext.c - see luatext.h. Called when a source is written to a recording.
*/
#include "binding/luatext.h"

#include <string.h>

/* As luaL_loadfilex: a mark of UTF-8, then a first line for the system. */
static const char *skip_head (const char *text, const char *end) {
  static const char mark[] = "\xEF\xBB\xBF";
  const size_t n = sizeof mark - 1;
  if ((size_t)(end - text) >= n && memcmp(text, mark, n) == 0)
    text += n;
  if (text < end && *text == '#') {
    const char *line = memchr(text, '\n', (size_t)(end - text));
    text = (line != NULL) ? line : end;
  }
  return text;
}

bool tg_luatext_is (const char *text, size_t size) {
  lua_State *L = luaL_newstate();
  if (L == NULL)
    return false;
  const char *end = text + size;
  text = skip_head(text, end);
  bool is = luaL_loadbufferx(L, text, (size_t)(end - text), "=text", "t")
            == LUA_OK;
  lua_close(L);
  return is;
}
