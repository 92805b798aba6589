/*
** optionvalue.c - one value of an option from Lua, checked and taken over.
** Lists are read raw, and their patterns are tried before they are copied.
*/
#include <math.h>
#include <string.h>

#include "binding/optionvalue.h"
#include "binding/luapattern.h"

/* A value as a message has it. A string or a number is shown as it is, of
   anything else its type: luaL_tolstring would call a __tostring of the
   program's. */
static const char *shown (lua_State *L, int index) {          /* [-0, +1, m] */
  int type = lua_type(L, index);
  return type == LUA_TSTRING || type == LUA_TNUMBER
         ? luaL_tolstring(L, index, NULL)
         : lua_pushstring(L, luaL_typename(L, index));
}

/* Raises what was expected, and what was given. */
int tg_optionvalue_fail (lua_State *L, const char *name, const char *allowed) {
  return luaL_error(L, "option '%s': %s expected, got %s", name, allowed,
                    shown(L, -1));
}

int tg_optionvalue_nomemory (lua_State *L) {
  return luaL_error(L, "not enough memory");
}

/* A string that looks like a number is none: what a program says by mistake is
   told. A float without a fraction is an integer, as in Lua's own functions
   (lua_tointegerx). */
uint64_t tg_optionvalue_count (lua_State *L, const char *name, uint64_t min,
                               uint64_t max, const char *allowed) {
  lua_Integer i;
  int ok = lua_type(L, -1) == LUA_TNUMBER;
  i = lua_tointegerx(L, -1, ok ? &ok : NULL);
  if (!ok || i < 0 || (uint64_t)i < min || (uint64_t)i > max)
    tg_optionvalue_fail(L, name, allowed);
  return (uint64_t)i;
}

uint32_t tg_optionvalue_limit (lua_State *L, const char *name) {
  if (lua_type(L, -1) == LUA_TSTRING
      && strcmp(lua_tostring(L, -1), "all") == 0)
    return TG_NOLIMIT;
  return (uint32_t)tg_optionvalue_count(L, name, 0, TG_NOLIMIT - 1,
                                        "a non-negative integer or \"all\"");
}

/* '!(n >= 0)' is also true for what is no number (NaN). */
uint64_t tg_optionvalue_ms (lua_State *L, const char *name) {
  lua_Number n = lua_tonumber(L, -1);
  if (lua_type(L, -1) != LUA_TNUMBER || !(n >= 0) || n > 1e12)
    tg_optionvalue_fail(L, name, "a non-negative number of milliseconds");
  return (uint64_t)llround(n * 1e6);
}

/* What is behind a hole, or has a name, would be passed over: of what is to be
   hidden that is what nobody can want. The 'n' of table.pack is fine. */
bool tg_optionvalue_is_list (lua_State *L, int index) {
  lua_Integer n = 0, keys = 0;
  index = lua_absindex(L, index);
  while (lua_rawgeti(L, index, n + 1) != LUA_TNIL) {
    lua_pop(L, 1);
    n++;
  }
  for (; lua_next(L, index); lua_pop(L, 1)) {
    bool packed = lua_type(L, -2) == LUA_TSTRING
                  && strcmp(lua_tostring(L, -2), "n") == 0;
    keys += !packed;
  }
  return keys == n;
}

/* Each is copied as soon as it is checked; if the next one is wrong, those that
   have been copied are their owner's to free. */
void tg_optionvalue_patterns (lua_State *L, const char *name,
                              tg_Patterns *list) {
  static const char allowed[] = "a pattern or a list of patterns";
  if (lua_type(L, -1) == LUA_TSTRING) {
    tg_luapattern_check(L, name);
    if (!tg_patterns_add(list, lua_tostring(L, -1)))
      tg_optionvalue_nomemory(L);
    return;
  }
  if (!lua_istable(L, -1))
    tg_optionvalue_fail(L, name, allowed);
  if (!tg_optionvalue_is_list(L, -1))
    luaL_error(L, "option '%s': %s expected, got a table with other keys", name,
               allowed);
  for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
    if (lua_type(L, -1) != LUA_TSTRING)
      tg_optionvalue_fail(L, name, allowed);
    tg_luapattern_check(L, name);
    if (!tg_patterns_add(list, lua_tostring(L, -1)))
      tg_optionvalue_nomemory(L);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* A header, or nil, which leaves '*out' as it was. */
void tg_optionvalue_parent (lua_State *L, int index, tg_SpanContext *out) {
  size_t size = 0;
  bool is_string = lua_type(L, index) == LUA_TSTRING;
  const char *s = is_string ? lua_tolstring(L, index, &size) : "";
  if (!lua_isnil(L, index) && !tg_traceparent_read(s, size, out))
    luaL_error(L, "option 'traceparent': 00-TRACE-SPAN-FLAGS expected "
               "(32, 16 and 2 hexadecimal digits), got %s",
               shown(L, index));
}
