/*
** covering.c - the hook of tracegrip coverage, and what is done at exit.
**
** There is one for the process, and its hook is on the coroutines of one state
** only, which new ones inherit from their makers (lua_newthread): so the hook
** asks nobody whose it is. All of it on the thread that runs the state.
**
** The program's own hooks go on: stand-ins of debug.sethook and gethook note
** them, as hook/userhook.h has it for a trace. Not by those, which need the
** records of coroutines that only tracing makes.
**
** Failure: beginning raises; at exit what fails is a line on standard error.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lualib.h>

#include "coverage/covering.h"
#include "base/alloc.h"
#include "base/grow.h"
#include "base/loaded.h"
#include "coverage/coverage.h"
#include "direct/proof.h"
#include "state/builtins.h"
#include "state/ownfunctions.h"

/* A coroutine on which the program has a hook. It may be gone: then another
   with its address has none in Lua's table, and hookf in ldblib.c does
   nothing. */
typedef struct User {
  lua_State *L;
  lua_Hook hook;
  int mask, count;
} User;

static struct {
  tg_Coverage *coverage;        /* owns; NULL: nothing is counted */
  pid_t process;
  User *users;                  /* owns */
  uint32_t nusers, capacity;
  char *path, *cpath, *text;    /* owns: the plan */
} covering;

/*
** {==================================================================
** The hook, and those of the program
** ===================================================================
*/

static User *find_user (const lua_State *L) {
  for (uint32_t i = 0; i < covering.nusers; i++) {
    if (covering.users[i].L == L)
      return &covering.users[i];
  }
  return NULL;
}

/* May raise or yield, as the program's hooks may: so it comes last. */
static void call_user (lua_State *L, lua_Debug *ar) {
  const User *u = find_user(L);
  if (u != NULL && (u->mask & lx_event_mask(ar->event)) != 0)
    u->hook(L, ar);
}

static void hook (lua_State *L, lua_Debug *ar) {
  if (tg_unlikely(covering.coverage == NULL)) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  tg_coverage_event(covering.coverage, L, ar);
  if (tg_unlikely(covering.nusers > 0))
    call_user(L, ar);
}

/* Our hook on 'L', above the program's. */
static void arm (lua_State *L, const User *u) {
  int mask = (u != NULL) ? u->mask : 0;
  lua_sethook(L, hook, TG_COVERAGE_MASK | mask, (u != NULL) ? u->count : 0);
}

/* What the program has on 'L' now is noted. Without memory its hook is the only
   one there, and nothing is counted. */
static void note_user (lua_State *L) {
  User *u = find_user(L);
  lua_Hook theirs = lua_gethook(L);
  if (theirs == hook)
    return;
  if (theirs == NULL && u != NULL)
    *u = covering.users[--covering.nusers];
  if (theirs != NULL) {
    if (u == NULL && !tg_grow(&covering.users, &covering.capacity,
                              covering.nusers + 1, sizeof *u))
      return;
    u = (u != NULL) ? u : &covering.users[covering.nusers++];
    *u = (User){L, theirs, lua_gethookmask(L), lua_gethookcount(L)};
  }
  arm(L, (theirs != NULL) ? u : NULL);
}

/* The coroutine that the arguments speak of (getthread in ldblib.c). */
static lua_State *subject (lua_State *L) {
  return lua_isthread(L, 1) ? lua_tothread(L, 1) : L;
}

/* The real one checks, raises and has its effects. */
static int standin_sethook (lua_State *L) {
  lua_State *L1 = subject(L);
  int n = tg_real_sethook(L);
  if (covering.coverage != NULL)
    note_user(L1);
  return n;
}

/* The real one finds the program's hook, which a count begins anew for. */
static int standin_gethook (lua_State *L) {
  lua_State *L1 = subject(L);
  if (lua_gethook(L1) != hook)
    return tg_real_gethook(L);
  const User *u = find_user(L1);
  lua_sethook(L1, (u != NULL) ? u->hook : NULL, (u != NULL) ? u->mask : 0,
              (u != NULL) ? u->count : 0);
  int n = tg_real_gethook(L);
  arm(L1, u);
  return n;
}

static void put_standins (lua_State *L) {
  tg_ownfunctions_except(standin_sethook);
  tg_ownfunctions_except(standin_gethook);
  lx_replace(L, LUA_DBLIBNAME, "sethook", tg_real_sethook, standin_sethook);
  lx_replace(L, LUA_DBLIBNAME, "gethook", tg_real_gethook, standin_gethook);
}

/* }================================================================== */

/*
** {==================================================================
** The end
** ===================================================================
*/

static void set_path (lua_State *L, const char *field, const char *path) {
  lua_getglobal(L, LUA_LOADLIBNAME);
  lua_pushstring(L, path);
  lua_setfield(L, -2, field);
  lua_pop(L, 1);
}

static int write_out (lua_State *L) {
  const tg_Coverage *c = lua_touserdata(L, 1);
  luaL_openlibs(L);
  set_path(L, "path", covering.path);
  set_path(L, "cpath", covering.cpath);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tracegrip.coverage");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "write");
  tg_coverage_push(c, L);
  lua_pushstring(L, covering.text);
  lua_call(L, 2, 0);
  return 0;
}

static void complain (const char *message) {
  fprintf(stderr, "tracegrip: coverage: %s\n", message);
}

/* At exit: Lua's state is closed by now, or will never be (os.exit). */
static void finish (void) {
  tg_Coverage *c = covering.coverage;
  if (c == NULL || getpid() != covering.process)
    return;
  covering.coverage = NULL;
  lua_State *L = luaL_newstate();
  if (L == NULL) {
    complain("not enough memory");
    return;
  }
  lua_pushcfunction(L, write_out);
  lua_pushlightuserdata(L, c);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
    const char *message = lua_tostring(L, -1);
    complain((message != NULL) ? message : "an error without a message");
  }
  lua_close(L);
  tg_coverage_free(c);
}

/* }================================================================== */

/* Raises without one. */
static char *copy_field (lua_State *L, const char *name) {
  lua_getfield(L, 1, name);
  char *copy = tg_strcopy(luaL_checkstring(L, -1));
  lua_pop(L, 1);
  return (copy != NULL) ? copy
                        : (luaL_error(L, "not enough memory"), NULL);
}

int coverage_start (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (covering.coverage != NULL)
    return luaL_error(L, "coverage is counted already");
  covering.path = copy_field(L, "path");
  covering.cpath = copy_field(L, "cpath");
  covering.text = copy_field(L, "text");
  covering.process = getpid();
  covering.coverage = tg_coverage_new(tg_proof_holds(L));
  if (covering.coverage == NULL || atexit(finish) != 0)
    return luaL_error(L, "not enough memory");
  tg_loaded_keep();
  put_standins(L);
  arm(L, NULL);
  lua_pushboolean(L, true);
  return 1;
}
