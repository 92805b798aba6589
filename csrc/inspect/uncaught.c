/*
** uncaught.c - see uncaught.h. On the program's thread; the handler runs where
** Lua has it run, with the frames of the error above the main chunk's.
**
** Not by calling the interpreter's own handler from ours: that would be a frame
** in the traceback that it makes. So ours makes the same, and is put in place
** only where both give the same for three errors. What is no handler, or does
** more than to make a message, must not be called to find that out: so it is
** tried only where it stands as lua.c has it stand. And not by the debugger's
** hook, which sees handlers called (watch.h): to be attached costs nothing.
*/
#include "inspect/uncaught.h"

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

#include "host/ownfunctions.h"
#include "inspect/agent.h"

/* What a message handler gives; as msghandler in lua.c. */
static int message (lua_State *L) {
  const char *text = lua_tostring(L, 1);
  if (text == NULL) {
    if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
      return 1;
    text = lua_pushfstring(L, "(error object is a %s value)",
                           luaL_typename(L, 1));
  }
  luaL_traceback(L, L, text, 1);
  return 1;
}

/* An error without memory is told without us. */
static int handler (lua_State *L) {
  tg_Inspector *i = tg_debuggee_of(tg_host_find(L));
  lua_settop(L, 1);
  if (i != NULL && i->wants.console && !tg_debuggee_works(i)
      && lua_checkstack(L, 1)) {
    lua_pushvalue(L, 1);
    tg_agent_call(i, L, &(tg_Tidings){.kind = "uncaught", .thrower = L,
                                      .level = 1, .uncaught = true});
    lua_settop(L, 1);
  }
  return message(L);
}

/* ---- the proof ---- */

static int shown (lua_State *L) {
  lua_pushliteral(L, "shown");
  return 1;
}

/* Pushes one of three errors. */
static void push_error (lua_State *L, int which) {
  if (which == 0)
    lua_pushliteral(L, "a message");
  else
    lua_newtable(L);
  if (which == 2) {
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, shown);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
  }
}

/* The handler is called from here, so that a traceback shows where it
   begins. */
static int call_handler (lua_State *L) {
  lua_call(L, 1, 1);
  return 1;
}

/* Pushes what a handler makes of the error, on a coroutine of its own, where
   no frame of the program is. */
static void try_handler (lua_State *L, lua_CFunction f, int which) {
  lua_State *co = lua_newthread(L);
  int results;
  lua_sethook(co, NULL, 0, 0);          /* it has inherited its maker's */
  lua_pushcfunction(co, call_handler);
  lua_pushcfunction(co, f);
  push_error(co, which);
  if (lua_resume(co, L, 2, &results) != LUA_OK || results != 1)
    lua_pushnil(L);
  else
    lua_xmove(co, L, 1);
  lua_remove(L, -2);
}

static bool does_the_same (lua_State *L, lua_CFunction f) {
  bool same = true;
  for (int which = 0; same && which < 3; which++) {
    try_handler(L, f, which);
    try_handler(L, message, which);
    same = lua_type(L, -1) == LUA_TSTRING && lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
  }
  return same;
}

/* ---- the place ---- */

/* The outermost frame, of the C function that runs all, whose callee is the
   main chunk; false: that is not running yet. */
static bool find_host (lua_State *L, lua_Debug *host) {
  lua_Debug main;
  int low = 0, high = 64;
  while (lua_getstack(L, high, host)) {
    low = high;
    high *= 2;
  }
  while (low + 1 < high) {
    int middle = low + (high - low) / 2;
    *(lua_getstack(L, middle, host) ? &low : &high) = middle;
  }
  if (low == 0 || !lua_getstack(L, low, host)
      || !lua_getstack(L, low - 1, &main))
    return false;
  lua_getinfo(L, "Sf", &main);
  bool own = tg_ownfunctions_function(L, &main);
  lua_pop(L, 1);
  return *main.what == 'm' && !own;     /* "main" */
}

enum { ARGC = 1, ARGV, HANDLER, CHUNK };    /* of the host's values (pmain,
                                               docall) */

static int type_of (lua_State *L, const lua_Debug *host, int n) {
  if (lua_getlocal(L, host, n) == NULL)
    return LUA_TNONE;
  int type = lua_type(L, -1);
  lua_pop(L, 1);
  return type;
}

/* Reads words of this process wherever 'at' points to. */
static bool read_words (const void *at, void *to, size_t n) {
  struct iovec here = {to, n * sizeof(char *)};
  struct iovec there = {(void *)(uintptr_t)at, n * sizeof(char *)};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0)
         == (ssize_t)(n * sizeof(char *));
}

/* Whether these are the arguments that the process was started with: the first
   one is the C library's, and the last has NULL behind it. */
static bool is_command_line (lua_Integer argc, const char *const *argv) {
  const char *first, *behind;
  return argc > 0 && argc < INT_MAX && read_words(argv, &first, 1)
         && first == program_invocation_name
         && read_words(argv + argc, &behind, 1) && behind == NULL;
}

/* Whether the host's first values are what lua.c's main gives to its pmain. */
static bool has_command_line (lua_State *L, const lua_Debug *host) {
  if (type_of(L, host, ARGC) != LUA_TNUMBER
      || type_of(L, host, ARGV) != LUA_TLIGHTUSERDATA)
    return false;
  lua_getlocal(L, host, ARGC);
  lua_getlocal(L, host, ARGV);
  lua_Integer argc = lua_tointeger(L, -2);
  const char *const *argv = lua_touserdata(L, -1);
  lua_pop(L, 2);
  return is_command_line(argc, argv);
}

/* A vararg function, which a main chunk is, leaves itself where it was called
   (luaT_adjustvarargs). */
static bool has_chunk (lua_State *L, const lua_Debug *host) {
  int type = type_of(L, host, CHUNK);
  return type == LUA_TFUNCTION || type == LUA_TNONE;
}

/* What stands where lua.c has its message handler, between what it was started
   with and the main chunk; NULL: the host is another one, whose functions are
   not to be called. A C function that has upvalues is none of lua.c's, and
   would miss them when it is tried. */
static lua_CFunction find_handler (lua_State *L, const lua_Debug *host) {
  if (!has_command_line(L, host) || !has_chunk(L, host)
      || lua_getlocal(L, host, HANDLER) == NULL)
    return NULL;
  lua_CFunction f = lua_tocfunction(L, -1);
  if (lua_getupvalue(L, -1, 1) != NULL) {
    lua_pop(L, 1);
    f = NULL;
  }
  lua_pop(L, 1);
  return f;
}

bool tg_uncaught_review (const tg_Inspector *i, lua_State *L) {
  lua_State *main = i->part.host->main;
  lua_Debug host;
  if (!lua_checkstack(main, 4) || !find_host(main, &host))
    return false;
  lua_CFunction f = find_handler(main, &host);
  if (f != NULL && f != handler && does_the_same(L, f)) {
    lua_pushcfunction(main, handler);
    lua_setlocal(main, &host, HANDLER);
  }
  return true;
}
