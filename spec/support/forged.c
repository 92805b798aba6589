/*
** forged.c - memory that looks like what it is not, for whoever looks into this
** process: forged.states(n) makes n copies of the running coroutine,
** forged.circle() one whose frames lead back to themselves. They are on the
** list of all objects, so the collector does nothing from then on. Of Lua 5.4
** and 5.5, whose CallInfo has its caller third (lstate.h).
*/
#include <stdlib.h>
#include <string.h>

#include <lua.h>
#include <lauxlib.h>

enum {
  STATE = 192,          /* bytes of a lua_State, at least */
  STEP = 256,           /* from one copy to the next */
  NEXT = 8,             /* bytes of an object's first word */
  AT_FRAME = 32,        /* lua_State: ci */
  FRAME = 64,           /* bytes of a CallInfo */
  AT_CALLER = 16        /* CallInfo: previous */
};

int luaopen_forged (lua_State *L);

/* Behind the newest object, whose first word names the one before. */
static void list (lua_State *L, char *state) {
  lua_gc(L, LUA_GCSTOP);
  lua_newtable(L);
  char *newest = (char *)(size_t)lua_topointer(L, -1);
  memcpy(state, newest, NEXT);
  memcpy(newest, &state, NEXT);
  lua_pop(L, 1);
}

/* Never given back: it is there as long as the process. */
static int states (lua_State *L) {
  size_t n = (size_t)luaL_checkinteger(L, 1);
  char *block = malloc(n * STEP);
  for (size_t i = 0; block != NULL && i < n; i++) {
    memcpy(block + i * STEP, (const void *)L, STATE);
    list(L, block + i * STEP);
  }
  lua_pushboolean(L, block != NULL);
  return 1;
}

static int circle (lua_State *L) {
  char *state = malloc(STEP), *frame = malloc(FRAME);
  const char *own;
  if (state == NULL || frame == NULL)
    return luaL_error(L, "not enough memory");
  memcpy(state, (const void *)L, STATE);
  memcpy(&own, state + AT_FRAME, sizeof own);
  memcpy(frame, own, FRAME);
  memcpy(frame + AT_CALLER, &frame, sizeof frame);
  memcpy(state + AT_FRAME, &frame, sizeof frame);
  list(L, state);
  return 0;
}

__attribute__((visibility("default"))) int luaopen_forged (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"states", states}, {"circle", circle}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
