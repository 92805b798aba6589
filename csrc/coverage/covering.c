/*
** covering.c - the hook that counts a whole program.
**
** There is one for the process, and its hook is on the coroutines of one state
** only, which new ones inherit from their makers (lua_newthread): so the hook
** asks nobody whose it is. All of it on the thread that runs the state.
**
** The program's own hooks go on, below ours (host/hooks.h). A signal may set a
** hook above ours while the program is sampled or listens (host/running.h): it
** is held off while hooks are changed here.
**
** Failure: beginning raises, or says why not; what goes wrong later is a line
** on standard error, or in the file (counts/ledger.h).
*/
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lualib.h>

#include "coverage/covering.h"
#include "base/alloc.h"
#include "base/atfork.h"
#include "base/grow.h"
#include "base/loaded.h"
#include "coverage/coverage.h"
#include "direct/proof.h"
#include "host/running.h"
#include "host/userhook.h"
#include "session/tracer.h"

/* A coroutine on which the program has a hook. It may be gone: then another
   with its address has none in Lua's table, and hookf in ldblib.c does
   nothing. */
typedef struct User {
  lua_State *L;
  tg_UserHook its;
} User;

static struct {
  tg_Coverage *coverage;        /* owns; NULL: nothing is counted */
  pid_t process;
  User *users;                  /* owns */
  uint32_t nusers, capacity;
  char *path, *cpath, *text;    /* owns: what is done at exit; NULL: nothing */
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
  if (u != NULL && (u->its.mask & lx_event_mask(ar->event)) != 0)
    u->its.hook(L, ar);
}

/* Nothing is counted any more: the program's hook is in our place, unless one
   above has called us. */
static void give_back (lua_State *L) {
  const User *u = find_user(L);
  if (tg_hooks_level(tg_host_find(L), lua_gethook(L)) != TG_HOOK_COVERAGE)
    return;
  if (u != NULL)
    lua_sethook(L, u->its.hook, u->its.mask, u->its.count);
  else
    lua_sethook(L, NULL, 0, 0);
}

static void hook (lua_State *L, lua_Debug *ar) {
  if (tg_likely(covering.coverage != NULL))
    tg_coverage_event(covering.coverage, L, ar);
  else
    give_back(L);
  if (tg_unlikely(covering.nusers > 0))
    call_user(L, ar);
}

/* Our hook on 'L', above the program's. Signals are held off. */
static void arm (lua_State *L, const User *u) {
  tg_UserHook its = (u != NULL) ? u->its : (tg_UserHook){NULL, 0, 0};
  lua_sethook(L, hook, TG_COVERAGE_MASK | its.mask, its.count);
}

/* 'theirs' is noted. Without memory it is the only hook there, and nothing is
   counted. */
static void note_user (lua_State *L, tg_UserHook theirs) {
  User *u = find_user(L);
  if (theirs.hook == hook)
    return;
  if (theirs.hook == NULL && u != NULL)
    *u = covering.users[--covering.nusers];
  if (theirs.hook != NULL) {
    if (u == NULL && !tg_grow(&covering.users, &covering.capacity,
                              covering.nusers + 1, sizeof *u))
      return;
    u = (u != NULL) ? u : &covering.users[covering.nusers++];
    *u = (User){L, theirs};
  }
  arm(L, (theirs.hook != NULL) ? u : NULL);
}

static tg_UserHook below (const tg_Host *h, lua_State *L) {
  const User *u = find_user(L);
  (void)h;
  return (u != NULL) ? u->its : (tg_UserHook){NULL, 0, 0};
}

/* What the program has set is below a handler's hook, which may be there. */
static void cover (tg_Host *h, lua_State *L1, lua_State *L, bool had) {
  (void)L;
  (void)had;
  if (covering.coverage == NULL)
    return;
  tg_running_hold(h);
  note_user(L1, tg_hooks_at(h, L1, TG_HOOK_COVERAGE));
  tg_running_let(h);
}

static const tg_HookLayer layer = {
  .hook = hook, .below = below, .cover = cover
};

/* }================================================================== */

/*
** {==================================================================
** The end
** ===================================================================
*/

/* In the hook, and once: that a file could not be made. One whose directory is
   gone has outlived the command that wanted to know. */
static void complain (int error) {
  if (error != ENOENT)
    fprintf(stderr, "tracegrip: coverage: process %ld is not counted: %s\n",
            (long)getpid(), strerror(error));
}

static int finish_in (lua_State *L) {
  luaL_openlibs(L);
  lx_set_package(L, covering.path, covering.cpath);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tracegrip.coverage.suite");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "exiting");
  lua_pushstring(L, covering.text);
  lua_call(L, 1, 0);
  return 0;
}

/* At exit: the program's state is closed by now, or will never be (os.exit), so
   it is done in one of its own. */
static void finish (void) {
  if (covering.text == NULL || getpid() != covering.process)
    return;
  lua_State *L = luaL_newstate();
  if (L == NULL)
    return;
  covering.coverage = NULL;     /* what is left of it is the file */
  lua_pushcfunction(L, finish_in);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
    const char *message = lua_tostring(L, -1);
    fprintf(stderr, "tracegrip: coverage: %s\n",
            (message != NULL) ? message : "an error without a message");
  }
  lua_close(L);
}

/* A child counts what it does, in a file of its own: that of its parent is
   the parent's. */
static void at_fork (tg_AtFork side) {
  if (side == TG_ATFORK_CHILD && covering.coverage != NULL)
    tg_coverage_renew(covering.coverage);
}

/* }================================================================== */

/* NULL without that field; raises without memory. */
static char *copy_field (lua_State *L, const char *name) {
  lua_getfield(L, 1, name);
  const char *value = luaL_optstring(L, -1, NULL);
  char *copy = tg_strcopy(value);
  lua_pop(L, 1);
  if (value != NULL && copy == NULL)
    luaL_error(L, "not enough memory");
  return copy;
}

/* Raises without memory. */
static void begin (lua_State *L, char *directory) {
  bool direct = tg_proof_holds(L);
  covering.coverage = tg_coverage_new(direct, false);
  if (covering.coverage == NULL) {
    tg_free(directory);
    luaL_error(L, "not enough memory");
  }
  tg_coverage_write(covering.coverage, directory, complain);
  covering.process = getpid();
  tg_atfork_register(TG_ATFORK_COVERAGE, at_fork, NULL);
}

int coverage_start (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (covering.coverage != NULL)
    return luaL_error(L, "coverage is counted already");
  char *directory = copy_field(L, "directory");
  luaL_argcheck(L, directory != NULL, 1, "no directory");
  if (access(directory, W_OK | X_OK) != 0) {
    int gone = errno == ENOENT;
    tg_free(directory);
    return gone ? (lua_pushboolean(L, true), 1)
                : luaL_fileresult(L, 0, "the directory of counts");
  }
  tg_Host *h = &tg_tracer_get(L)->host;
  begin(L, directory);
  covering.path = copy_field(L, "path");
  covering.cpath = copy_field(L, "cpath");
  covering.text = copy_field(L, "text");
  if (covering.text != NULL && atexit(finish) != 0)
    return luaL_error(L, "not enough memory");
  tg_loaded_keep();
  tg_hooks_know(h, TG_HOOK_COVERAGE, &layer);
  tg_userhook_enter(h, L);
  tg_running_hold(h);
  unsigned were = tg_hooks_there(h, L);
  note_user(L, tg_hooks_at(h, L, TG_HOOK_PROGRAM));
  tg_hooks_cover(h, TG_HOOK_COVERAGE, L, L, were);
  tg_running_let(h);
  lua_pushboolean(L, true);
  return 1;
}

int coverage_stop (lua_State *L) {
  tg_Coverage *c = covering.coverage;
  bool whole = c != NULL && getpid() == covering.process;
  covering.coverage = NULL;     /* hooks that are left take themselves away */
  tg_coverage_free(c);
  if (whole) {
    tg_free(covering.text);
    covering.text = NULL;
  }
  lua_pushboolean(L, whole);
  return 1;
}
