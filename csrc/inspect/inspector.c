/*
** inspector.c - opens a state to debuggers, and gives their Lua what it needs
** of C. On the thread that runs the state. The functions are called by the
** agent alone, with values of its own making.
*/
#include <limits.h>
#include <string.h>

#include "inspect/inspector.h"
#include "base/alloc.h"
#include "direct/proof.h"
#include "host/ownfunctions.h"
#include "host/standins.h"
#include "inspect/agent.h"
#include "inspect/console.h"
#include "inspect/coroutines.h"
#include "inspect/evaluation.h"
#include "inspect/exceptions.h"
#include "inspect/uncaught.h"
#include "inspect/watch.h"

static const char key_from = 0;     /* registry: the coroutine of a step */

#define BACKLOG ((size_t)16 << 20)  /* bytes that wait for the server: more of
                                       what may be left out is */

/*
** {==================================================================
** Opening, closing, messages
** ===================================================================
*/

static void serve (tg_Host *h, lua_State *L, lua_Debug *ar) {
  (void)ar;
  tg_inspector_attend(h, L);
}

static bool call_agent (tg_Inspector *i, lua_State *L, const char *kind);

/* Code that a debugger runs speaks while the agent is busy. Only that: the
   program stands still meanwhile. */
static void hear (tg_Session *s, lua_State *L, const char *method) {
  tg_Inspector *i = tg_debuggee_of(&s->host);
  tg_assert(i != NULL && s->listener == &i->listener);
  tg_console_keep(i, L, method);
  if (!i->wants.console && !i->wants.pauses)
    return;
  if (tg_debuggee_works(i))
    tg_agent_nest(L, &(tg_Tidings){.kind = "say"});
  else {
    call_agent(i, L, "say");
    tg_inspector_attend(&s->host, L);   /* a program that only speaks hears,
                                           too */
  }
}

/* What may raise comes first, so that there is either a whole inspector or
   none: a coroutine in the registry that nobody uses is no harm. */
void tg_inspector_open (lua_State *L, tg_Session *s, tg_Channel *channel,
                        const char *path) {
  tg_Inspector *i = tg_debuggee_of(&s->host);
  if (i != NULL && i->life == TG_INSPECTOR_CLOSED)
    tg_inspector_close(&s->host, L);
  if (tg_debuggee_of(&s->host) != NULL)
    return;
  tg_assert(s->host.running != NULL);
  lua_State *work = tg_agent_setup(L, path);
  tg_console_setup(L);
  i = tg_calloc(1, sizeof *i);
  if (i == NULL)
    luaL_error(L, "not enough memory");
  tg_debuggee_begin(i, s, tg_inspector_close);
  i->work = work;
  i->breakpoints.epoch = 1;
  i->direct = i->cells.direct = tg_proof_holds(L);
  i->channel = tg_channel_pin(channel);
  i->listener.hear = hear;
  tg_clock_setup();
  tg_clock_start(&i->listener.clock);
  s->listener = &i->listener;
  tg_standins_open(&s->host, L, TG_CALLER_INSPECTOR, serve);
  tg_exceptions_open(i, L);
  tg_watch_begin(i);
}

/* Code that a debugger runs may close the listener that it came by: then the
   agent is still at work. */
void tg_inspector_close (tg_Host *h, lua_State *L) {
  tg_Inspector *i = tg_debuggee_of(h);
  if (i == NULL)
    return;
  tg_Session *s = i->session;
  if (tg_debuggee_works(i)) {
    i->life = TG_INSPECTOR_CLOSING;
    return;
  }
  tg_watch_end(i, L);
  s->listener = NULL;
  if (!tg_session_traces(s))
    tg_labels_clear(&s->labels);
  tg_console_clear(L);
  tg_exceptions_close(i, L);
  tg_standins_close(h, L, TG_CALLER_INSPECTOR);
  tg_agent_clear(L);
  tg_part_remove(&i->part);
  tg_channel_unpin(i->channel);
  tg_breakpoints_free(&i->breakpoints);
  tg_roll_free(&i->roll, L);
  tg_free(i);
}

/* What the messages ask for may have changed where the program is to stop. The
   agent's answer; the inspector may be gone. */
static bool call_agent (tg_Inspector *i, lua_State *L, const char *kind) {
  tg_Host *h = i->part.host;
  if (tg_debuggee_works(i))
    return false;
  bool answer = tg_agent_call(i, L, &(tg_Tidings){.kind = kind});
  tg_watch_review(i, L);
  if (i->life == TG_INSPECTOR_CLOSED)
    tg_inspector_close(h, L);
  return answer;
}

void tg_inspector_attend (tg_Host *h, lua_State *L) {
  tg_Inspector *i = tg_debuggee_of(h);
  if (i != NULL && atomic_load(&i->channel->messages))
    call_agent(i, L, "attend");
}

void tg_inspector_visit (tg_Host *h, lua_State *L) {
  tg_Inspector *i = tg_debuggee_of(h);
  if (i == NULL || tg_debuggee_works(i))
    return;
  bool collects = lua_gc(L, LUA_GCISRUNNING) == 1;
  lua_gc(L, LUA_GCSTOP);
  call_agent(i, L, "visit");
  if (collects)
    lua_gc(L, LUA_GCRESTART);
}

/* The agent is at work only while there is something to read: who interrupts
   the program meanwhile, as Ctrl-C does, is heard by Lua when this returns. */
bool tg_inspector_wait (tg_Host *h, lua_State *L, uint64_t ns) {
  tg_Inspector *i = tg_debuggee_of(h);
  bool waits = i != NULL && call_agent(i, L, "wait");
  i = tg_debuggee_of(h);
  return !waits || i == NULL || !tg_channel_hear(i->channel, ns);
}

/* The frame of this function stands on the program's stack: it is one of ours,
   which frames.lua leaves out, and a step from here ends when it returns. */
int inspector_pause (lua_State *L) {
  tg_Inspector *i = tg_debuggee_of(tg_host_find(L));
  if (i != NULL && i->wants.pauses)
    call_agent(i, L, "pause");
  return 0;
}

/* }================================================================== */

/*
** {==================================================================
** What the agent calls
** ===================================================================
*/

static tg_Inspector *inspector_of (lua_State *L) {
  tg_Inspector *i = tg_debuggee_of(tg_host_find(L));
  if (i == NULL)
    luaL_error(L, "this state is not open to debuggers");
  return i;
}

/* The message is freed before anything can raise but for want of memory. */
static int inspector_receive (lua_State *L) {
  tg_Inspector *i = inspector_of(L);
  bool wait = lua_toboolean(L, 1);
  tg_Message *x = tg_channel_open(i->channel, wait);
  if (x == NULL)
    return 0;
  lua_pushinteger(L, (lua_Integer)x->client);
  int results = (x->kind == TG_MESSAGE_GONE) ? 1 : 2;
  if (x->kind == TG_MESSAGE_TEXT)
    lua_pushlstring(L, x->text, x->size);
  else if (x->kind != TG_MESSAGE_GONE)
    lua_pushboolean(L, x->kind == TG_MESSAGE_BEHIND);
  tg_message_free(x);
  return results;
}

/* A message of the first two arguments. */
static tg_Message *read_message (lua_State *L) {
  size_t size;
  uint64_t client = (uint64_t)luaL_checkinteger(L, 1);
  const char *text = luaL_checklstring(L, 2, &size);
  tg_Message *x = tg_message_new(client, text, size);
  if (x == NULL)
    luaL_error(L, "not enough memory");
  return x;
}

static int inspector_postpone (lua_State *L) {
  const tg_Inspector *i = inspector_of(L);
  tg_channel_postpone(i->channel, read_message(L));
  return 0;
}

static int inspector_send (lua_State *L) {
  const tg_Inspector *i = inspector_of(L);
  tg_Message *x = read_message(L);
  size_t most = lua_toboolean(L, 3) ? BACKLOG : SIZE_MAX;
  lua_pushboolean(L, tg_channel_offer(i->channel, x, most));
  return 1;
}

static int inspector_now (lua_State *L) {
  lua_pushnumber(L, tg_console_now());
  return 1;
}

static int inspector_said (lua_State *L) {
  tg_console_take(inspector_of(L), L);
  return 1;
}

static int inspector_listened (lua_State *L) {
  inspector_of(L)->wants.console = lua_toboolean(L, 1);
  return 0;
}

/* From the innermost out; 'co' itself may be on no list (running.h). */
static int inspector_chain (lua_State *L) {
  tg_Inspector *i = inspector_of(L);
  lua_State *co = lua_tothread(L, 1), *at;
  luaL_argcheck(L, co != NULL, 1, "coroutine expected");
  int n = 0, places = 0;
  while (tg_running_at(i->part.host, n) != NULL)
    n++;
  lua_createtable(L, n + 1, 0);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, ++places);
  for (int k = n - 1; k >= 0; k--) {
    if (tg_running_at(i->part.host, k) == co)
      n = k;
  }
  for (int k = n - 1; k >= 0; k--) {
    at = tg_running_at(i->part.host, k);
    if (!lua_checkstack(at, 1))         /* which must not raise on 'at' */
      return luaL_error(L, "not enough memory");
    lua_pushthread(at);
    lua_xmove(at, L, 1);
    lua_rawseti(L, -2, ++places);
  }
  return 1;
}

static int inspector_coroutines (lua_State *L) {
  lua_Integer most = luaL_checkinteger(L, 1);
  luaL_argcheck(L, 0 <= most && most <= INT_MAX, 1, "number of coroutines");
  return tg_coroutines_push(inspector_of(L), L, (int)most);
}

static int inspector_own (lua_State *L) {
  lua_Debug ar;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 1);
  lua_getinfo(L, ">S", &ar);
  lua_pushboolean(L, tg_ownfunctions_function(L, &ar));
  return 1;
}

/* A list of lines, in memory of Lua's. Raises, with nothing allocated. */
static tg_Lines read_lines (lua_State *L, int arg) {
  luaL_checktype(L, arg, LUA_TTABLE);
  tg_Lines list = {.n = (int)lua_rawlen(L, arg)};
  list.at = lua_newuserdatauv(L, ((size_t)list.n + 1) * sizeof *list.at, 0);
  for (int k = 0; k < list.n; k++) {
    lua_rawgeti(L, arg, k + 1);
    list.at[k] = (int)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
  }
  return list;
}

/* The same in memory of ours; false: there is none. */
static bool copy_lines (tg_Lines *list) {
  int *copy = tg_calloc((size_t)list->n + 1, sizeof *copy);
  for (int k = 0; copy != NULL && k < list->n; k++)
    copy[k] = list->at[k];
  list->at = copy;
  return copy != NULL;
}

static bool copy_places (tg_Places *p) {
  bool lines = copy_lines(&p->lines), entries = copy_lines(&p->entries);
  return copy_lines(&p->functions) && lines && entries;
}

static int inspector_breakpoints (lua_State *L) {
  tg_Breakpoints *b = &inspector_of(L)->breakpoints;
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  tg_Places places = {.lines = read_lines(L, 2), .entries = read_lines(L, 3),
                      .functions = read_lines(L, 4)};
  int at = tg_breakpoints_find(b, text, size);
  if (at < 0)
    at = tg_breakpoints_add(b, text, size, false);
  if (!copy_places(&places) || at < 0) {
    tg_places_free(&places);
    return luaL_error(L, "not enough memory");
  }
  tg_breakpoints_set(b, at, &places);
  lua_pushinteger(L, at);
  return 1;
}

/* Each value that is asked for is pushed, on a stack that may be full. */
static int inspector_variable (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  const char *wanted = luaL_checkstring(L, 3), *name;
  lua_Debug ar;
  int found = 0;
  luaL_argcheck(L, co != NULL, 1, "coroutine expected");
  if (!lua_getstack(co, (int)luaL_checkinteger(L, 2), &ar)
      || !lua_checkstack(co, 1))
    return 0;
  for (int n = 1; (name = lua_getlocal(co, &ar, n)) != NULL; n++) {
    lua_pop(co, 1);
    if (strcmp(name, wanted) == 0)
      found = n;
  }
  if (found == 0)
    return 0;
  lua_pushinteger(L, found);
  return 1;
}

static int inspector_attached (lua_State *L) {
  inspector_of(L)->wants.pauses = lua_toboolean(L, 1);
  return 0;
}

static int inspector_curious (lua_State *L) {
  inspector_of(L)->wants.sources = lua_toboolean(L, 1);
  return 0;
}

static int inspector_uncaught (lua_State *L) {
  lua_pushboolean(L, tg_uncaught_review(inspector_of(L), L));
  return 1;
}

static int inspector_cover (lua_State *L) {
  tg_Inspector *i = inspector_of(L);
  bool wanted = lua_toboolean(L, 1);
  if (wanted && i->coverage == NULL)
    i->coverage = tg_coverage_new(i->direct, true);
  if (wanted && i->coverage == NULL)
    return luaL_error(L, "not enough memory");
  if (!wanted) {
    tg_coverage_free(i->coverage);
    i->coverage = NULL;
  }
  return 0;
}

static int inspector_counts (lua_State *L) {
  tg_Inspector *i = inspector_of(L);
  if (i->coverage == NULL) {
    lua_newtable(L);
    return 1;
  }
  tg_coverage_push(i->coverage, L);
  tg_coverage_reset(i->coverage);
  return 1;
}

static int inspector_errors (lua_State *L) {
  static const char *const names[] = {"none", "uncaught", "all", NULL};
  tg_Inspector *i = inspector_of(L);
  i->wants.errors = (tg_Errors)luaL_checkoption(L, 1, NULL, names);
  return 0;
}

static int inspector_step (lua_State *L) {
  static const char *const names[] = {"none", "next", "into", "over", "out",
                                      NULL};
  tg_Inspector *i = inspector_of(L);
  lua_State *co = lua_tothread(L, 1);
  luaL_argcheck(L, co != NULL, 1, "coroutine expected");
  tg_StepKind kind = (tg_StepKind)luaL_checkoption(L, 2, NULL, names);
  if (kind == TG_STEP_NONE)
    lua_pushnil(L);
  else
    lua_pushvalue(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_from);
  tg_step_begin(&i->step, co, (int)luaL_optinteger(L, 3, 0), kind);
  return 0;
}

/* What the code changes is no change of the program's. */
static int inspector_run (lua_State *L) {
  tg_Inspector *i = inspector_of(L);
  tg_watch_evaluation(i);
  tg_cells_look(&i->cells, L);
  int results = tg_evaluation_run(i, L);
  tg_cells_settle(&i->cells, L, false);
  return results;
}

static int inspector_watch_field (lua_State *L) {
  return tg_cells_add_field(&inspector_of(L)->cells, L);
}

static int inspector_watch_upvalue (lua_State *L) {
  return tg_cells_add_upvalue(&inspector_of(L)->cells, L);
}

static int inspector_watch_local (lua_State *L) {
  return tg_cells_add_local(&inspector_of(L)->cells, L);
}

static int inspector_unwatch (lua_State *L) {
  return tg_cells_remove(&inspector_of(L)->cells, L);
}

static int inspector_tests (lua_State *L) {
  return tg_tests_set(&inspector_of(L)->tests, L);
}

static int inspector_changes (lua_State *L) {
  return tg_cells_changes(&inspector_of(L)->cells, L);
}

void tg_inspector_push (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"receive", inspector_receive},
    {"postpone", inspector_postpone},
    {"send", inspector_send},
    {"now", inspector_now},
    {"said", inspector_said},
    {"listened", inspector_listened},
    {"chain", inspector_chain},
    {"coroutines", inspector_coroutines},
    {"own", inspector_own},
    {"breakpoints", inspector_breakpoints},
    {"variable", inspector_variable},
    {"attached", inspector_attached},
    {"curious", inspector_curious},
    {"uncaught", inspector_uncaught},
    {"cover", inspector_cover},
    {"counts", inspector_counts},
    {"errors", inspector_errors},
    {"step", inspector_step},
    {"run", inspector_run},
    {"watch_field", inspector_watch_field},
    {"watch_upvalue", inspector_watch_upvalue},
    {"watch_local", inspector_watch_local},
    {"unwatch", inspector_unwatch},
    {"changes", inspector_changes},
    {"tests", inspector_tests},
    {NULL, NULL}
  };
  luaL_newlib(L, functions);
}

/* }================================================================== */
