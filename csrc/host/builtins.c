/*
** builtins.c - the addresses of Lua's own functions, and how this release of
** Lua behaves where releases differ.
**
** All is learned once, by whichever thread loads the library first, on a state
** that is made for it and closed again: in the program's own state a library
** may have been replaced or never opened. What was learned is constant after
** that, so it is read in the hook without a lock. A state that cannot be made,
** or whose libraries raise, leaves 'learned' false, and the library is not
** loaded.
*/
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <lualib.h>

#include "host/builtins.h"

/* Written once, by learn_once, as all below that is learned. */
lua_CFunction tg_real_sethook, tg_real_gethook, tg_real_collectgarbage;
lua_CFunction tg_real_resume, tg_real_wrapped, tg_real_close;
lua_Hook tg_lua_hook;
bool tg_close_forgets;

/* The functions with a role, and where the libraries have them. */
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

/* Functions whose arguments or results have a key and its value. */
static const struct {
  const char *library;
  const char *name;
  tg_Keyed keyed;
} keyed[] = {
  {"_G", "rawset", TG_KEYED_SETS},
  {"_G", "rawget", TG_KEYED_GETS},
  {"_G", "next", TG_KEYED_WALKS},
  {"os", "getenv", TG_KEYED_NAMED}
};

#define NKEYED (sizeof keyed / sizeof keyed[0])

static lua_CFunction keyed_at[NKEYED];
static bool learned;
static bool replaces;
static char for_nil[64];        /* "": nil */

/* In no order, searched from the start: asked about a function that an error
   passes, never about each call. */
#define HARMLESS 256    /* more than the libraries have */

static lua_CFunction harmless[HARMLESS];
static size_t nharmless;

/* All that the libraries have, but for functions with upvalues: these are the
   state's for which they were made. In the order of the libraries' tables. */
#define MEMBERS 256
#define LONGEST 16          /* bytes of a library's name, and of a function's */

static struct {
  char name[2 * LONGEST];   /* "string.find", "print" */
  lua_CFunction f;
} members[MEMBERS];
static size_t nmembers;

/* Functions of ours that take the place of one of Lua's (server/standins.h). */
#define STANDINS 8

static struct {
  lua_CFunction f;
  tg_Role role;
} standins[STANDINS];
static size_t nstandins;

/* NULL if the library has no C function of that name. */
static lua_CFunction member (lua_State *L, const char *lib, const char *name) {
  lua_getglobal(L, lib);
  lua_getfield(L, -1, name);
  lua_CFunction f = lua_tocfunction(L, -1);
  lua_pop(L, 2);
  return f;
}

/* To see what debug.sethook installs: hookf of ldblib.c, which is static there.
   It is asked for after so many instructions that it never comes to run. */
static void learn_hook (lua_State *L) {
  lua_pushcfunction(L, tg_real_sethook);
  lua_getglobal(L, "print");
  lua_pushliteral(L, "");
  lua_pushinteger(L, 1000000);
  lua_call(L, 3, 0);
  tg_lua_hook = lua_gethook(L);
}

/* Whether a function of a library may catch errors of functions that it calls.
   By name, whatever the library: so io.close, for the sake of coroutine.close,
   is not known as harmless either, and errors that pass it get a closer look.
   'load' catches errors of its reader, 'debug' those of typed code. */
static bool catches (const char *name) {
  static const char *const names[] = {
    "pcall", "xpcall", "load", "resume", "wrap", "close", "debug", "exit"
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(names[i], name) == 0)
      return true;
  }
  return false;
}

/* A function for which there is no room is taken for one that may catch errors,
   which costs time and no more. */
static void learn_harmless (lua_CFunction f) {
  if (f != NULL && nharmless < HARMLESS)
    harmless[nharmless++] = f;
}

/* The functions in the table on top of the stack, which is popped. */
static void learn_table (lua_State *L) {
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (lua_type(L, -2) == LUA_TSTRING && !catches(lua_tostring(L, -2)))
      learn_harmless(lua_tocfunction(L, -1));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static void learn_member (lua_State *L, const char *library) {
  const char *name = lua_tostring(L, -2);
  lua_CFunction f = lua_tocfunction(L, -1);
  if (f == NULL || nmembers == MEMBERS || strlen(name) >= LONGEST)
    return;
  if (lua_getupvalue(L, -1, 1) != NULL) {
    lua_pop(L, 1);
    return;
  }
  bool global = strcmp(library, LUA_GNAME) == 0;
  snprintf(members[nmembers].name, sizeof members[nmembers].name, "%s%s%s",
           global ? "" : library, global ? "" : ".", name);
  members[nmembers++].f = f;
}

static void learn_members (lua_State *L) {
  static const char *const libraries[] = {
    LUA_GNAME, LUA_COLIBNAME, LUA_TABLIBNAME, LUA_IOLIBNAME, LUA_OSLIBNAME,
    LUA_STRLIBNAME, LUA_UTF8LIBNAME, LUA_MATHLIBNAME, LUA_DBLIBNAME,
    LUA_LOADLIBNAME
  };
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
    lua_getglobal(L, libraries[i]);
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
      if (lua_type(L, -2) == LUA_TSTRING)
        learn_member(L, libraries[i]);
    }
    lua_pop(L, 1);
  }
}

/* All libraries, the metamethods of strings, and what ipairs iterates with:
   functions that an error may pass although no table of a library has them. */
static void learn_libraries (lua_State *L) {
  static const char *const names[] = {
    LUA_GNAME, LUA_TABLIBNAME, LUA_IOLIBNAME, LUA_OSLIBNAME, LUA_STRLIBNAME,
    LUA_UTF8LIBNAME, LUA_MATHLIBNAME, LUA_DBLIBNAME
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    lua_getglobal(L, names[i]);
    learn_table(L);
  }
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  learn_table(L);
  lua_getglobal(L, "ipairs");
  lua_newtable(L);
  lua_call(L, 1, 1);
  learn_harmless(lua_tocfunction(L, -1));
}

/* Since 5.4.3 luaF_close goes on with the error of the __close method; before,
   it kept the first one. */
static void learn_closing (lua_State *L) {
  static const char program[] =
    "local function close () error(2, 0) end "
    "local function fail () "
    "  local _ <close> = setmetatable({}, {__close = close}) "
    "  error(1, 0) "
    "end "
    "return select(2, pcall(fail))";
  if (luaL_dostring(L, program) == LUA_OK)
    replaces = lua_tointeger(L, -1) == 2;
}

/* What error(nil) throws: nil itself, or since 5.5 a message in its place. To
   be shown as the thrown value, it has to be known before Lua makes it. */
static void learn_nil (lua_State *L) {
  lua_pushcfunction(L, tg_builtins_real(TG_ROLE_ERROR));
  lua_pcall(L, 0, 0, 0);
  if (lua_type(L, -1) == LUA_TSTRING)
    snprintf(for_nil, sizeof for_nil, "%s", lua_tostring(L, -1));
  lua_pop(L, 1);
}

/* Has a coroutine die, to see what closing it leaves of its error. Until 5.4.2
   lua_resetthread answered only for the __close methods it ran. By this name
   and not lua_closethread, which came with 5.4.6. */
static void learn_close (lua_State *L) {
  int n;
  lua_State *co = lua_newthread(L);
  lua_pushcfunction(co, tg_builtins_real(TG_ROLE_ERROR));
  lua_resume(co, L, 0, &n);
  tg_close_forgets = lua_resetthread(co) == LUA_OK;
  lua_pop(L, 1);
}

/* In a protected call: each step may run out of memory. What wrap returns is
   auxwrap of lcorolib.c, to be had from a call of wrap alone. */
static int learn (lua_State *L) {
  luaL_openlibs(L);
  for (size_t i = 0; i < NKNOWN; i++)
    address[i] = member(L, known[i].library, known[i].name);
  for (size_t i = 0; i < NKEYED; i++)
    keyed_at[i] = member(L, keyed[i].library, keyed[i].name);
  tg_real_sethook = member(L, "debug", "sethook");
  tg_real_gethook = member(L, "debug", "gethook");
  tg_real_collectgarbage = member(L, "_G", "collectgarbage");
  tg_real_resume = tg_builtins_real(TG_ROLE_RESUME);
  tg_real_close = tg_builtins_real(TG_ROLE_CLOSE);
  learn_hook(L);
  learn_close(L);
  learn_nil(L);
  lua_getglobal(L, "coroutine");
  lua_getfield(L, -1, "wrap");
  lua_getglobal(L, "print");
  lua_call(L, 1, 1);
  tg_real_wrapped = lua_tocfunction(L, -1);
  learn_libraries(L);
  learn_members(L);
  learn_closing(L);
  return 0;
}

/* luaL_newstate and not the program's allocator: that may count or limit what
   it gives. */
static void learn_once (void) {
  lua_State *L = luaL_newstate();
  if (L == NULL)
    return;
  lua_pushcfunction(L, learn);
  learned = lua_pcall(L, 0, 0, 0) == LUA_OK;
  lua_close(L);
}

/* Threads that come together wait for the first (pthread_once), and find all of
   it learned. */
bool tg_builtins_setup (void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, learn_once);
  return learned;
}

/* Asked when a C function is defined and seldom else: a walk through a short
   list will do. */
tg_Role tg_builtins_role (lua_CFunction f) {
  tg_assert(learned);
  if (f == NULL)
    return TG_ROLE_NONE;
  if (f == tg_real_wrapped)
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

tg_Keyed tg_builtins_keyed (lua_CFunction f) {
  for (size_t i = 0; f != NULL && i < NKEYED; i++) {
    if (keyed_at[i] == f)
      return keyed[i].keyed;
  }
  return TG_KEYED_NOT;
}

/* False for any function that is not Lua's: nobody knows whether it
   catches. */
bool tg_builtins_harmless (lua_CFunction f) {
  size_t i = 0;
  while (i < nharmless && harmless[i] != f)
    i++;
  return i < nharmless;
}

const char *tg_builtins_member (size_t n) {
  return (n < nmembers) ? members[n].name : NULL;
}

lua_CFunction tg_builtins_function (size_t n) {
  tg_assert(n < nmembers);
  return members[n].f;
}

const char *tg_builtins_name (lua_CFunction f) {
  size_t i = 0;
  while (i < nmembers && members[i].f != f)
    i++;
  return (i < nmembers) ? members[i].name : NULL;
}

bool tg_builtins_close_replaces (void) {
  return replaces;
}

const char *tg_builtins_error_for_nil (void) {
  return (*for_nil != '\0') ? for_nil : NULL;
}

/* Also a role that several functions have: then that of the first in the
   list. */
lua_CFunction tg_builtins_real (tg_Role role) {
  size_t i = 0;
  while (i < NKNOWN && known[i].role != role)
    i++;
  tg_assert(i < NKNOWN);
  return address[i];
}

/* Added before a state can trace that has them, and never taken out. */
void tg_builtins_standin (lua_CFunction f, tg_Role role) {
  tg_assert(nstandins < STANDINS);
  standins[nstandins].f = f;
  standins[nstandins].role = role;
  nstandins++;
}
