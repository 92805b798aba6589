#include <pthread.h>

#include <lualib.h>

#include "roles.h"

lua_CFunction tg_real_sethook, tg_real_gethook;
lua_Hook tg_lua_hook;

static const struct {
  const char *library;          /* "_G" or a library's name */
  const char *name;
  tg_Role role;
} known[] = {
  {"_G", "pcall", TG_ROLE_PCALL},
  {"_G", "xpcall", TG_ROLE_XPCALL},
  {"_G", "error", TG_ROLE_ERROR},
  {"_G", "assert", TG_ROLE_ASSERT},
  {"coroutine", "resume", TG_ROLE_RESUME},
  {"coroutine", "yield", TG_ROLE_YIELD},
  {"coroutine", "create", TG_ROLE_CREATE},
  {"coroutine", "wrap", TG_ROLE_WRAP},
  {"coroutine", "close", TG_ROLE_CLOSE},
  {"os", "exit", TG_ROLE_EXIT}
};

#define NKNOWN (sizeof known / sizeof known[0])

static lua_CFunction address[NKNOWN];
static lua_CFunction wrapped;   /* what coroutine.wrap returns */
static bool learned;

#define STANDINS 4

static struct {
  lua_CFunction f;
  tg_Role role;
} standins[STANDINS];
static size_t nstandins;

static lua_CFunction member (lua_State *L, const char *lib, const char *name) {
  lua_getglobal(L, lib);
  lua_getfield(L, -1, name);
  lua_CFunction f = lua_tocfunction(L, -1);
  lua_pop(L, 2);
  return f;
}

/* Sets a hook that will not come to run, to see what debug.sethook installs. */
static void learn_hook (lua_State *L) {
  lua_pushcfunction(L, tg_real_sethook);
  lua_getglobal(L, "print");
  lua_pushliteral(L, "");
  lua_pushinteger(L, 1000000);
  lua_call(L, 3, 0);
  tg_lua_hook = lua_gethook(L);
}

static int learn (lua_State *L) {
  luaL_openlibs(L);
  for (size_t i = 0; i < NKNOWN; i++)
    address[i] = member(L, known[i].library, known[i].name);
  tg_real_sethook = member(L, "debug", "sethook");
  tg_real_gethook = member(L, "debug", "gethook");
  learn_hook(L);
  lua_getglobal(L, "coroutine");
  lua_getfield(L, -1, "wrap");
  lua_getglobal(L, "print");
  lua_call(L, 1, 1);
  wrapped = lua_tocfunction(L, -1);
  return 0;
}

static void learn_once (void) {
  lua_State *L = luaL_newstate();
  if (L == NULL)
    return;
  lua_pushcfunction(L, learn);
  learned = lua_pcall(L, 0, 0, 0) == LUA_OK;
  lua_close(L);
}

bool tg_roles_setup (void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, learn_once);
  return learned;
}

tg_Role tg_role_of (lua_CFunction f) {
  if (f == NULL)
    return TG_ROLE_NONE;
  if (f == wrapped)
    return TG_ROLE_WRAPPED;
  for (size_t i = 0; i < NKNOWN; i++) {
    if (address[i] == f)
      return known[i].role;
  }
  for (size_t i = 0; i < nstandins; i++) {
    if (standins[i].f == f)
      return standins[i].role;
  }
  return TG_ROLE_NONE;
}

lua_CFunction tg_real_function (tg_Role role) {
  size_t i = 0;
  while (i < NKNOWN && known[i].role != role)
    i++;
  tg_assert(i < NKNOWN);
  return address[i];
}

void tg_role_standin (lua_CFunction f, tg_Role role) {
  tg_assert(nstandins < STANDINS);
  standins[nstandins].f = f;
  standins[nstandins].role = role;
  nstandins++;
}
