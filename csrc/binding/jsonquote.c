/*
** jsonquote.c - see jsonquote.h. Called for each string of a message, thousands
** in one answer to a debugger, on the thread of the state; without memory it
** raises what Lua does.
*/
#include "binding/jsonquote.h"

#include "text/jsonwriter.h"
#include "text/utf8.h"

/* Up to the first byte that does not stand for itself. */
static const char *skip_plain (const char *s, const char *end) {
  while (s < end && *s >= ' ' && *s < 0x7f && *s != '"' && *s != '\\')
    s++;
  return s;
}

/* A character that is not plain, or a byte that is none: other ends refuse text
   with such, so U+FFFD stands for it. */
static const char *add_odd (luaL_Buffer *out, const char *s, const char *end) {
  uint32_t code;
  size_t n = tg_utf8_char(s, end, &code);
  if (n == 0) {
    luaL_addstring(out, "\xEF\xBF\xBD");
    return s + 1;
  }
  if (code == '"' || code == '\\') {
    luaL_addchar(out, '\\');
    luaL_addchar(out, *s);
  }
  else if (tg_utf8_control(code)) {
    char *room = luaL_prepbuffsize(out, TG_JSON_ESCAPE);
    luaL_addsize(out, (size_t)(tg_jsonwriter_escape(room, code) - room));
  }
  else
    luaL_addlstring(out, s, n);
  return s + n;
}

int jsonquote_text (lua_State *L) {
  size_t size;
  const char *s = luaL_checklstring(L, 1, &size);
  const char *end = s + size;
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  luaL_addchar(&out, '"');
  while (s < end) {
    const char *stop = skip_plain(s, end);
    luaL_addlstring(&out, s, (size_t)(stop - s));
    s = (stop < end) ? add_odd(&out, stop, end) : stop;
  }
  luaL_addchar(&out, '"');
  luaL_pushresult(&out);
  return 1;
}
