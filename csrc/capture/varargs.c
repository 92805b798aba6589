/*
** varargs.c - see varargs.h. Called in the hook: raw access only, nothing is
** allocated, at most three slots of the stack are used, which a hook has.
**
** Two places where extra arguments may be: below the frame, where lua_getlocal
** finds them by negative numbers (manual, lua_getlocal), in all of 5.4 and for
** most functions of 5.5; or in a table that 5.5 makes for a function which
** names them ("...t"), and which is the local variable after the parameters.
** The program may have changed such a table by the time it is read: at the
** call's event it has not.
*/
#include "capture/varargs.h"
#include "binding/lx.h"

/* Pushes the table of extra arguments; false if there is none. */
static bool push_table (lua_State *L, lua_Debug *ar, int nparams) {
#if LUA_VERSION_NUM >= 505
  if (lua_getlocal(L, ar, nparams + 1) == NULL)
    return false;
  if (lua_istable(L, -1))
    return true;
  lua_pop(L, 1);
#else
  (void)L, (void)ar, (void)nparams;
#endif
  return false;
}

/*
** The table's field "n", its only field that is no argument, and the last. To
** look it up by name would make a string. Few arguments stand behind the
** border, unless there are many nils.
*/
static int table_count (lua_State *L) {
  TG_STACK_GUARD(L);
  lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
  if (n == 0)
    lua_pushnil(L);
  else
    lua_pushinteger(L, n);
  while (lua_next(L, -2)) {
    if (lua_type(L, -2) == LUA_TSTRING)
      n = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  TG_STACK_CHECK(L);
  return (int)n;
}

/* By bisection: there is no other way to ask. */
static int hidden_count (lua_State *L, lua_Debug *ar) {
  int low = 0, high = 1;
  while (lua_getlocal(L, ar, -high) != NULL) {
    lua_pop(L, 1);
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (lua_getlocal(L, ar, -middle) != NULL) {
      lua_pop(L, 1);
      low = middle;
    }
    else
      high = middle;
  }
  return low;
}

/* None is as good as no table: a function whose table is empty has none. */
int tg_varargs_count (lua_State *L, lua_Debug *ar, int nparams) {
  TG_STACK_GUARD(L);
  int n = hidden_count(L, ar);
  if (n == 0 && push_table(L, ar, nparams)) {
    n = table_count(L);
    lua_pop(L, 1);
  }
  TG_STACK_CHECK(L);
  return n;
}

/* Below the frame first, as that is where they are mostly; a function has them
   in one place only. */
bool tg_varargs_push (lua_State *L, lua_Debug *ar, int nparams, int i) {
  TG_STACK_GUARD(L);
  if (lua_getlocal(L, ar, -i) != NULL)
    return true;
  if (!push_table(L, ar, nparams))
    return false;
  lua_rawgeti(L, -1, i);
  lua_remove(L, -2);
  TG_STACK_LEFT(L, 1);
  return true;
}
