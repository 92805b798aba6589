/*
** evaluation.c - see evaluation.h. The error is raised in the hook, as Lua's
** own debug.sethook lets a program do it; nothing else here raises while the
** code runs.
*/
#include "inspect/evaluation.h"

#include <time.h>

#include "host/builtins.h"
#include "host/running.h"
#include "inspect/traceback.h"

#define STEP 1000           /* instructions between two looks */
#define EVENTS (LUA_MASKCALL | LUA_MASKCOUNT)

struct tg_Evaluation {
  uint64_t client;          /* who has asked for it */
  int64_t deadline;         /* ns of the thread's work; INT64_MAX: none */
  const char *ended;        /* why each instruction fails; NULL: none does */
};

static const char too_long[] = "the evaluation took too long";
static const char ended[] = "the evaluation was ended by a debugger";

static int64_t worked (void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
** {==================================================================
** The hook
** ===================================================================
*/

/* Notes the C function that is called, so that a debugger which waits for the
   evaluation's end can be told its name. */
static void note_call (const tg_Inspector *i, lua_State *L, lua_Debug *ar) {
  if (!lua_checkstack(L, 1))
    return;
  lua_getinfo(L, "f", ar);
  lua_CFunction f = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  if (f == NULL)
    return;
  const char *name = tg_builtins_name(f);
  if (name == NULL) {
    lua_getinfo(L, "n", ar);
    name = (ar->name != NULL) ? ar->name : "a C function";
  }
  tg_channel_within(i->channel, name);
}

static void look (const tg_Inspector *i, tg_Evaluation *e) {
  if (e->ended != NULL)
    return;
  if (e->deadline != INT64_MAX && worked() > e->deadline)
    e->ended = too_long;
  else if (tg_channel_ends(i->channel, e->client))
    e->ended = ended;
}

static void guard (lua_State *L, lua_Debug *ar);

/* The code has left a coroutine behind, which the program runs now. */
static void retire (lua_State *L) {
  const tg_Host *h = tg_host_find(L);
  tg_running_hold(h);
  if (lua_gethook(L) == guard)
    lua_sethook(L, NULL, 0, 0);
  tg_running_let(h);
}

/* The message has no place in front: it is no error of the code's. */
static void guard (lua_State *L, lua_Debug *ar) {
  const tg_Inspector *i = tg_debuggee_of(tg_host_find(L));
  if (i == NULL || i->evaluation == NULL) {
    retire(L);
    return;
  }
  if (ar->event != LUA_HOOKCOUNT) {
    note_call(i, L, ar);
    return;
  }
  look(i, i->evaluation);
  if (i->evaluation->ended == NULL || !lua_checkstack(L, 1))
    return;
  lua_sethook(L, guard, EVENTS, 1);
  lua_pushstring(L, i->evaluation->ended);
  lua_error(L);
}

static const tg_HookLayer layer = {.hook = guard};

void tg_evaluation_setup (tg_Host *h) {
  tg_hooks_know(h, TG_HOOK_EVALUATION, &layer);
}

/* A coroutine with a hook of the program's keeps that; so does one that a trace
   sees. */
void tg_evaluation_enter (const tg_Inspector *i, lua_State *co) {
  const tg_Host *h = i->part.host;
  if (lua_gethook(co) != NULL && !tg_hooks_has(h, co, TG_HOOK_DEBUGGER))
    return;
  tg_running_hold(h);
  lua_sethook(co, guard, EVENTS, STEP);
  tg_running_let(h);
}

/* }================================================================== */

/*
** {==================================================================
** Running
** ===================================================================
*/

enum { FUNCTION = 1, CLIENT, SECONDS, ARGUMENTS };

static tg_Evaluation read_evaluation (lua_State *L) {
  tg_Evaluation e = {.client = (uint64_t)luaL_checkinteger(L, CLIENT),
                     .deadline = INT64_MAX};
  lua_Number seconds = luaL_optnumber(L, SECONDS, -1);
  if (seconds >= 0 && seconds < 1e9)
    e.deadline = worked() + (int64_t)(seconds * 1e9);
  return e;
}

static int push_results (lua_State *L, lua_State *co, int n) {
  lua_pushboolean(L, 1);
  luaL_checkstack(L, n, "too many results");
  lua_xmove(co, L, n);
  return n + 1;
}

/* The error on top of 'co', with all frames still there. */
static int push_failure (lua_State *L, lua_State *co) {
  lua_pushboolean(L, 0);
  lua_xmove(co, L, 1);
  if (lua_type(L, -1) == LUA_TSTRING)
    lua_pushvalue(L, -1);
  else
    lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, -1));
  tg_traceback_push(L, co, lua_tostring(L, -1));
  lua_remove(L, -2);
  return 3;
}

static int push_yield (lua_State *L) {
  lua_pushboolean(L, 0);
  lua_pushliteral(L, "a debugger's code cannot yield");
  lua_pushliteral(L, "attempt to yield");
  return 3;
}

static int push_outcome (lua_State *L, lua_State *co, int status, int n) {
  if (status == LUA_OK)
    return push_results(L, co, n);
  return (status == LUA_YIELD) ? push_yield(L) : push_failure(L, co);
}

static void begin (tg_Inspector *i, tg_Evaluation *e) {
  tg_assert(i->evaluation == NULL);
  i->evaluation = e;
  tg_channel_evaluate(i->channel, true);
}

/* Before anything that may raise. */
static void end (tg_Inspector *i) {
  i->evaluation = NULL;
  tg_channel_evaluate(i->channel, false);
}

/* Variables that are to be closed are, also by code that can be ended. Not of
   code that was: Lua calls no hook in a coroutine that has died in one. */
static void close_variables (tg_Inspector *i, tg_Evaluation *e,
                             lua_State *co) {
  if (e->ended != NULL)
    return;
  begin(i, e);
  lua_resetthread(co);
  end(i);
}

int tg_evaluation_run (tg_Inspector *i, lua_State *L) {
  int n = lua_gettop(L) - ARGUMENTS + 1, results = 0;
  luaL_checktype(L, FUNCTION, LUA_TFUNCTION);
  tg_Evaluation e = read_evaluation(L);
  lua_State *co = lua_newthread(L);
  luaL_argcheck(L, lua_checkstack(co, n + 1), ARGUMENTS, "too many values");
  lua_insert(L, ARGUMENTS);             /* f client seconds co arguments */
  lua_pushvalue(L, FUNCTION);
  lua_insert(L, ARGUMENTS + 1);
  lua_xmove(L, co, n + 1);
  lua_sethook(co, guard, EVENTS, STEP);
  begin(i, &e);
  int status = lua_resume(co, L, n, &results);
  end(i);
  int pushed = push_outcome(L, co, status, results);
  if (status != LUA_OK)
    close_variables(i, &e, co);
  return pushed;
}

/* }================================================================== */
