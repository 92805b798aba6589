/*
** nested.c - C functions of which the work is known, below functions that Lua
** calls: nested.work(f, n) does n rounds of 6 to 3 to 1 in three C functions
** of its own, and calls f, if there is one, in a fourth.
*/
#include <lua.h>
#include <lauxlib.h>

#define EXPORT __attribute__((visibility("default")))
#define APART __attribute__((noinline))

static volatile unsigned sum;

APART static void spin (unsigned n) {
  for (unsigned i = 0; i < n; i++)
    sum = sum * 2654435761u + i;
}

/* What is behind a call keeps it from being the last thing that is done. */
/* Their names are in the module's symbol table. */
void nested_six (unsigned n);
void nested_three (unsigned n);
void nested_one (unsigned n);
void nested_back (lua_State *L);

APART EXPORT void nested_six (unsigned n) {
  spin(6 * n);
  sum++;
}

APART EXPORT void nested_three (unsigned n) {
  spin(3 * n);
  sum++;
}

APART EXPORT void nested_one (unsigned n) {
  spin(n);
  sum++;
}

APART EXPORT void nested_back (lua_State *L) {
  lua_pushvalue(L, 1);
  lua_call(L, 0, 0);
  sum++;
}

static int work (lua_State *L) {
  unsigned n = (unsigned)luaL_checkinteger(L, 2);
  nested_six(n);
  nested_three(n);
  nested_one(n);
  if (!lua_isnil(L, 1))
    nested_back(L);
  lua_pushinteger(L, (lua_Integer)(sum & 1));
  return 1;
}

EXPORT int luaopen_nested (lua_State *L);

EXPORT int luaopen_nested (lua_State *L) {
  static const luaL_Reg functions[] = {{"work", work}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
