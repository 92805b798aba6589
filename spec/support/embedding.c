/*
** embedding.c - programs that embed Lua in the ways that hosts do, and heed no
** LUA_INIT. For spec/cli/preload_spec.lua.
**
**   embedding HOW SCRIPT...   runs the scripts, and what HOW says:
**     open      in a state with all libraries
**     few       in one with the basic functions and strings alone
**     none      in one without any library
**     again     each in a state of its own, one after the other
**     threads   the same, all at once on threads
**     small     in a state that may have little memory, and has no library
**     command   open, for the shell: each script is a command
**
** Says what a host would notice: a stack that is not as it was.
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#define MOST ((size_t)12 << 10)       /* bytes of a small state */

int embedding_main (int argc, char **argv);

static int say (lua_State *L) {
  printf("%s\n", lua_tostring(L, 1));
  return 0;
}

static void open_few (lua_State *L) {
  luaL_requiref(L, "_G", luaopen_base, 1);
  luaL_requiref(L, "string", luaopen_string, 1);
  lua_pop(L, 2);
}

/* What is on the stack is the host's. */
static int run (lua_State *L, const char *script) {
  lua_pushliteral(L, "mine");
  int failed = luaL_loadfile(L, script);
  if (lua_gettop(L) != 2 || strcmp(lua_tostring(L, 1), "mine") != 0)
    printf("the stack has %d values\n", lua_gettop(L));
  failed = failed || lua_pcall(L, 0, 0, 0);
  if (failed)
    printf("error: %s\n", lua_tostring(L, -1));
  lua_settop(L, 0);
  return failed;
}

static int run_alone (const char *script) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  int failed = run(L, script);
  lua_close(L);
  return failed;
}

static void *on_thread (void *script) {
  run_alone(script);
  return NULL;
}

static void run_threads (int n, char **scripts) {
  pthread_t threads[64];
  for (int i = 0; i < n; i++)
    pthread_create(&threads[i], NULL, on_thread, scripts[i]);
  for (int i = 0; i < n; i++)
    pthread_join(threads[i], NULL);
}

static void *bounded (void *used, void *block, size_t old, size_t wanted) {
  size_t *sum = used;
  size_t now = *sum - (block != NULL ? old : 0) + wanted;
  if (wanted > 0 && now > MOST)
    return NULL;
  *sum = now;
  if (wanted > 0)
    return realloc(block, wanted);
  free(block);
  return NULL;
}

static lua_State *small_state (size_t *used) {
#if LUA_VERSION_NUM >= 505
  return lua_newstate(bounded, used, 0);
#else
  return lua_newstate(bounded, used);
#endif
}

static int run_in_one (const char *how, int n, char **scripts) {
  size_t used = 0;
  int failed = 0;
  lua_State *L = strcmp(how, "small") == 0 ? small_state(&used)
                                           : luaL_newstate();
  if (strcmp(how, "few") == 0)
    open_few(L);
  else if (strcmp(how, "open") == 0)
    luaL_openlibs(L);
  lua_register(L, "say", say);
  for (int i = 0; i < n; i++)
    failed |= run(L, scripts[i]);
  lua_close(L);
  return failed;
}

__attribute__((visibility("default")))
int embedding_main (int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int failed = 0;
  if (strcmp(how, "threads") == 0)
    run_threads(argc - 2, argv + 2);
  else if (strcmp(how, "again") == 0)
    for (int i = 2; i < argc; i++)
      failed |= run_alone(argv[i]);
  else if (strcmp(how, "command") == 0)
    for (int i = 2; i < argc; i++)
      failed |= system(argv[i]) != 0;
  else
    failed = run_in_one(how, argc - 2, argv + 2);
  return failed;
}

#ifndef PLUGIN
int main (int argc, char **argv) {
  return embedding_main(argc, argv);
}
#endif
