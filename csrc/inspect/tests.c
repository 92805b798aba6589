/*
** tests.c - see tests.h. Called by watch.c and inspector.c.
*/
#include <string.h>

#include <lauxlib.h>

#include "inspect/tests.h"
#include "inspect/workspace.h"

static const char key_work = 0;     /* registry: the coroutine */

enum { SOURCES = 1 };               /* on its stack: source -> place -> tests */
enum { FUNCTION = 1, OPERATORS, PATHS };    /* in a test */

#define ROOM 64                     /* on the stack: a test's arguments, and
                                       what it takes to find them */

/*
** {==================================================================
** What the program has
** ===================================================================
*/

/* Moves the last local variable of that name to 'work'. */
static bool push_local (lua_State *work, lua_State *L, const lua_Debug *ar,
                        const char *wanted) {
  const char *name;
  int found = 0;
  for (int n = 1; (name = lua_getlocal(L, ar, n)) != NULL; n++) {
    if (strcmp(name, wanted) == 0)
      found = n;
    lua_pop(L, 1);
  }
  if (found == 0)
    return false;
  lua_getlocal(L, ar, found);
  lua_xmove(L, work, 1);
  return true;
}

static bool push_upvalue (lua_State *work, lua_State *L, lua_Debug *ar,
                          const char *wanted) {
  const char *name;
  lua_getinfo(L, "f", ar);
  for (int n = 1; (name = lua_getupvalue(L, -1, n)) != NULL; n++) {
    if (strcmp(name, wanted) == 0) {
      lua_xmove(L, work, 1);
      lua_pop(L, 1);
      return true;
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return false;
}

/* Replaces the table on top by its field of the key on top of it. A field that
   is not there is nil only where no metamethod has a say. */
static bool get_field (lua_State *work) {
  if (!lua_istable(work, -2))
    return false;
  lua_rawget(work, -2);
  if (lua_isnil(work, -1) && lua_getmetatable(work, -2))
    return false;
  lua_replace(work, -2);
  return true;
}

/* Pushes what the path says that begins at *place of the test at 'test', and
   sets *place behind it. */
static bool push_path (lua_State *work, lua_State *L, lua_Debug *ar, int test,
                       int *place) {
  lua_rawgeti(work, test, (*place)++);
  const char *name = lua_tostring(work, -1);
  if (!push_local(work, L, ar, name) && !push_upvalue(work, L, ar, name))
    return false;
  lua_replace(work, -2);
  while (lua_rawgeti(work, test, (*place)++) != LUA_TBOOLEAN) {
    if (!get_field(work))
      return false;
  }
  lua_pop(work, 1);
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Metamethods
** ===================================================================
*/

static bool has_metatable (lua_State *work, int index) {
  if (!lua_getmetatable(work, index))
    return false;
  lua_pop(work, 1);
  return true;
}

/* Numbers, booleans and nil have a metatable if a program gives them one. */
static bool has_plain_types (lua_State *work) {
  lua_pushnil(work);
  lua_pushboolean(work, 0);
  lua_pushinteger(work, 0);
  bool plain = !has_metatable(work, -1) && !has_metatable(work, -2)
               && !has_metatable(work, -3);
  lua_pop(work, 3);
  return plain;
}

/* Whether an operator of the test could call a metamethod of an argument. Two
   objects are compared by that of either. */
static bool may_call (lua_State *work, int first, int last,
                      unsigned operators) {
  int objects = 0;
  bool special = false;
  for (int n = first; n <= last; n++) {
    int type = lua_type(work, n);
    if (type == LUA_TSTRING && (operators & TG_TEST_COMPUTES))
      return true;
    objects += (type == LUA_TTABLE || type == LUA_TUSERDATA);
    special = special || (type != LUA_TSTRING && has_metatable(work, n));
  }
  return special && (operators != 0 || objects > 1);
}

/* }================================================================== */

/* Whether the test on top of 'work' says no; what it leaves there goes. */
static bool says_no (lua_State *work, lua_State *L, lua_Debug *ar) {
  int test = lua_gettop(work), end = (int)lua_rawlen(work, test);
  int place = PATHS;
  lua_rawgeti(work, test, OPERATORS);
  unsigned operators = (unsigned)lua_tointeger(work, -1);
  lua_rawgeti(work, test, FUNCTION);
  int f = lua_gettop(work);
  while (place <= end) {
    if (!push_path(work, L, ar, test, &place))
      return false;
  }
  int last = lua_gettop(work);
  if (may_call(work, f + 1, last, operators) || !has_plain_types(work))
    return false;
  return lua_pcall(work, last - f, 1, 0) == LUA_OK && !lua_toboolean(work, -1);
}

bool tg_tests_refuse (const tg_Tests *t, lua_State *L, lua_Debug *ar,
                      int source, int place) {
  lua_State *work = t->work;
  bool all = false;
  if (work == NULL || !lua_checkstack(L, 2))
    return false;
  if (lua_rawgeti(work, SOURCES, source) == LUA_TTABLE
      && lua_rawgeti(work, -1, place) == LUA_TTABLE) {
    int list = lua_gettop(work);
    all = true;
    for (int n = 1; all && lua_rawgeti(work, list, n) == LUA_TTABLE; n++) {
      all = says_no(work, L, ar);
      lua_settop(work, list);
    }
  }
  lua_settop(work, SOURCES);
  return all;
}

static void setup (tg_Tests *t, lua_State *L) {
  lua_State *work = tg_workspace_new(L, &key_work);
  lua_newtable(L);
  lua_xmove(L, work, 1);
  if (!lua_checkstack(work, ROOM))
    luaL_error(L, "not enough memory");
  t->work = work;
}

int tg_tests_set (tg_Tests *t, lua_State *L) {
  lua_Integer source = luaL_checkinteger(L, 1);
  luaL_checkany(L, 2);
  lua_settop(L, 2);
  if (t->work == NULL)
    setup(t, L);
  lua_pushthread(t->work);
  lua_xmove(t->work, L, 1);
  lua_pushvalue(t->work, SOURCES);
  lua_xmove(t->work, L, 1);
  lua_pushvalue(L, 2);
  lua_rawseti(L, -2, source);
  return 0;
}

void tg_tests_clear (tg_Tests *t, lua_State *L) {
  tg_workspace_drop(L, &key_work);
  t->work = NULL;
}
