/*
** trace.c - the object Trace, and the ways in which a program starts and stops
** one. On the thread that runs the state; in the hook only for the endpoint,
** which sees to it that nothing is raised there and nothing collected
** (lx_quietly). Wrong options raise before anything has changed; a file that
** cannot be had is false, with errno.
**
** What may go on while any function here allocates in Lua: the collector runs,
** and with it finalizers of the program's, which may stop, start or close
** traces. So what was found out before an allocation is asked again after it,
** and a Trace that is used is on the stack.
*/
#include "trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "binding/lx.h"
#include "binding/readoptions.h"
#include "direct/proof.h"
#include "packet/log.h"
#include "recording/program.h"
#include "session/anchor.h"
#include "session/calibration.h"
#include "session/pause.h"
#include "session/tracefile.h"
#include "session/tracer.h"
#include "session/tracing.h"
#include "state/observer.h"
#include "trace/tracefields.h"

/* A Trace that ended between its start and this was retired before it was
   anchored: nobody would let go of it later. */
void tg_trace_anchor (lua_State *L, tg_Trace *t) {
  tg_anchor_put(L, t);
  if (t->session == NULL)       /* stopped meanwhile, by a finalizer */
    tg_anchor_release(L, t);
}

/* By address, in a weak table: a tg_Trace has no room for its own object, and
   the object must not be held by it. Nil once its finalizer is to run: weak
   values go before (manual, section 2.5.4). */
void tg_trace_push (lua_State *L, const tg_Trace *t) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_traces);
  lua_rawgetp(L, -1, t);
  lua_remove(L, -2);
}

/* Also of one that has ended by itself, which is not active any more but may
   be anchored. */
void tg_trace_halt (lua_State *L, tg_Trace *t) {
  if (t->session != NULL)
    tg_tracing_stop(t->session, L, t);
  tg_anchor_release(L, t);
}

/* ---- starting ---- */

/* "Trace 1", "Trace 2", ...: one that is not in use. The number goes on from
   the last one made: a name that has been seen in a listing is not given to
   another trace soon. */
static char *make_name (tg_Session *s, const char *name) {
  char generated[32];
  if (name != NULL)
    return tg_strcopy(name);
  do
    snprintf(generated, sizeof generated, "Trace %u", ++s->names);
  while (tg_tracing_trace(s, generated) != NULL);
  return tg_strcopy(generated);
}

/* Zeroed before the metatable is set: from then on an error may call the
   finalizer. A trace counts as ended until it starts. */
tg_Trace *tg_trace_new (lua_State *L) {
  tg_Trace *t = lua_newuserdatauv(L, sizeof *t, 0);
  memset(t, 0, sizeof *t);
  t->end = TG_END_STOPPED;
  tg_options_init(&t->options);
  luaL_setmetatable(L, TG_TRACE);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_traces);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, t);
  lua_pop(L, 1);
  return t;
}

/* Whether the trace holds nothing of the stream. A trace on a file need not,
   since the file has the events; but a ring drops its oldest chunk by its hold,
   and the exact count of maxEvents (tracelimits.c) is read from memory. */
static bool consumed (const tg_Trace *t) {
  switch (t->origin) {
    case TG_ORIGIN_FEED: case TG_ORIGIN_LOG: return true;
    case TG_ORIGIN_FILE:      /* a ring and a count need what there is */
      return t->options.overflow != TG_OVERFLOW_RING
             && t->options.max_events == 0;
    case TG_ORIGIN_API: case TG_ORIGIN_CONSOLE: case TG_ORIGIN_WATCH:
    default: return false;
  }
}

/* The trace that 't' is about to replace, or NULL. Hidden traces replace none,
   whatever their names: the program does not know of them. */
static tg_Trace *predecessor (const tg_Session *s, const tg_Trace *t) {
  return tg_trace_hidden(t) ? NULL : tg_tracing_trace(s, t->name);
}

/* A client hears that its trace is replaced before that happens. Its reaction
   may be anything: so the name is looked up again, and another trace that has
   got the name is announced too. Not a third one: a listener could keep us here
   for ever. */
static void announce (lua_State *L, tg_Session *s, const tg_Trace *t) {
  const tg_Trace *old = predecessor(s, t);
  if (old != NULL && tg_observers_watch(s, old))
    tg_observers_flush(s, L);
  const tg_Trace *told = NULL;
  for (int i = 0; i < 2; i++) {
    tg_Trace *next = predecessor(s, t);
    if (next == NULL || next == told)
      return;
    tg_assert(next->session == s);
    tg_trace_push(L, next);
    tg_observers_stopped(s, L, next);
    lua_pop(L, 1);
    told = next;
  }
}

/* Whether the program has started the trace, and gets the reason if it cannot
   start. */
static bool is_programs (tg_Origin origin) {
  return origin == TG_ORIGIN_API || origin == TG_ORIGIN_CONSOLE;
}

/* The system gives no clock for samples: nothing else that the program starts
   can fail without raising. */
static void push_clockless (lua_State *L, const tg_Trace *t, int error) {
  const char *why = tg_proof_objection();
  if (error == ENOTSUP)
    lua_pushfstring(L, "cannot %s: the interpreter's memory is not known (%s)",
                    t->options.windows > 0 ? "have windows"
                                           : "take samples by the clock",
                    why != NULL ? why : "it is built in another way");
  else
    lua_pushfstring(L, "cannot take samples: %s", strerror(error));
}

static int clockless (lua_State *L, const tg_Trace *t) {
  int error = errno;
  luaL_pushfail(L);
  push_clockless(L, t, error);
  lua_pushinteger(L, error);
  return 3;
}

#define COSTS_LAST_NS UINT64_C(10000000000)

/* What tracing costs, as tracing begins. A program that starts and stops many
   traces does not pay for that each time: for ten seconds the costs are those
   that they were. */
static void measure_costs (tg_Session *s) {
  uint64_t now_ns = tg_clock_monotonic_ns();
  if (tg_session_traces(s)
      || (s->costs_ns != 0 && now_ns - s->costs_ns < COSTS_LAST_NS))
    return;
  tg_calibration_measure(&s->costs);
  s->costs_ns = now_ns;
}

/* The new one starts before the old one stops: if there is no memory or no
   file for it, the old one goes on; and with one of them there tracing never
   ends between them, which would end the stream and with it the numbers of an
   actor's sequence. Only what the program starts itself is announced: a client
   that has asked for a trace knows what it replaces. */
bool tg_trace_begin (lua_State *L, tg_Trace *t, const char *name,
                     tg_Origin origin, const tg_Observer *heir) {
  tg_Session *s = tg_tracer_get(L);
  tg_assert(t->session == NULL && t->name == NULL);
  t->origin = origin;
  t->consumed = consumed(t);
  t->name = make_name(s, name);
  if (t->name == NULL)
    luaL_error(L, "not enough memory");
  if (origin == TG_ORIGIN_API)
    announce(L, s, t);
  tg_Trace *old = predecessor(s, t);
  measure_costs(s);
  tg_Status status = tg_tracing_start(s, L, t);
  if (status == TG_ERR_MEMORY)
    luaL_error(L, "not enough memory");
  if (status != TG_OK && t->clockless && !is_programs(origin)) {
    push_clockless(L, t, errno);
    luaL_error(L, "%s", lua_tostring(L, -1));
  }
  if (status != TG_OK)
    return false;
  if (old != NULL) {
    tg_trace_push(L, old);      /* it may end by itself meanwhile */
    tg_observers_replaced(s, L, old, origin == TG_ORIGIN_CONSOLE, heir);
    tg_trace_halt(L, old);
    lua_pop(L, 1);
  }
  return true;
}

/* A name given by the program: "" is none. */
static const char *check_name (lua_State *L, int i) {
  if (lua_isnoneornil(L, i))
    return NULL;
  if (lua_type(L, i) != LUA_TSTRING)
    luaL_typeerror(L, i, "string");
  const char *name = lx_checkword(L, i);
  return (*name != '\0') ? name : NULL;
}

/* The name is read by raw access, as all options are: a program's __index must
   not run here. */
static int start (lua_State *L, tg_Origin origin) {
  static const char *const extra[] = {"name", NULL};
  const char *name = NULL;
  lua_settop(L, 1);
  if (lua_istable(L, 1)) {
    lua_pushliteral(L, "name");
    lua_rawget(L, 1);
    if (!lua_isnil(L, 2) && lua_type(L, 2) != LUA_TSTRING)
      return luaL_error(L, "option 'name': a string expected, got %s",
                        luaL_typename(L, 2));
    if (!lua_isnil(L, 2) && !lx_isword(L, 2))
      return luaL_error(L, "option 'name': a string without zero bytes "
                        "expected");
    name = check_name(L, 2);
  }
  tg_Trace *t = tg_trace_new(L);
  tg_readoptions(L, 1, extra, &t->options);
  return tg_trace_begin(L, t, name, origin, NULL) ? 1 : clockless(L, t);
}

int trace_start (lua_State *L) {
  return start(L, TG_ORIGIN_API);
}

/* For a tool around the program: the trace has no name that the program could
   meet. */
int trace_watch (lua_State *L) {
  return start(L, TG_ORIGIN_WATCH);
}

/* Clients come first, then the feeds have what there was before it, and last
   all are told, when it is anchored: what they do may drop all other
   references to it. */
int console_start (lua_State *L) {
  lua_settop(L, 2);
  tg_observers_turn(tg_session_find(L), L);
  const char *name = check_name(L, 1);
  tg_Trace *t = tg_trace_new(L);
  tg_readoptions(L, 2, NULL, &t->options);
  tg_observers_flush(tg_session_find(L), L);
  if (!tg_trace_begin(L, t, name, TG_ORIGIN_CONSOLE, NULL))
    return clockless(L, t);
  tg_trace_anchor(L, t);
  lua_pushstring(L, t->name);
  tg_observers_started(tg_session_find(L), L, t);
  return 1;
}

int tg_trace_failure (lua_State *L, const char *code, const char *message) {
  luaL_pushfail(L);
  lua_pushstring(L, message);
  lua_pushstring(L, code);
  return 3;
}

/* Whoever is told may have stopped it already; its object is on the stack. */
static void stop (lua_State *L, tg_Trace *t) {
  tg_observers_stopped(tg_session_find(L), L, t);
  tg_trace_halt(L, t);
}

/* The trace is on the stack from here on: a listener may stop it, and then
   nothing else holds it. */
int console_stop (lua_State *L) {
  tg_Session *s = tg_session_find(L);
  tg_observers_turn(s, L);
  const char *name = check_name(L, 1);
  if (s == NULL || tg_tracing_trace(s, NULL) == NULL)
    return tg_trace_failure(L, "wrongState", "no trace is running");
  tg_Trace *t = tg_tracing_trace(s, name);
  if (t == NULL) {
    lua_pushfstring(L, "no trace named '%s' is running", name);
    return tg_trace_failure(L, "noSuchTrace", lua_tostring(L, -1));
  }
  tg_trace_push(L, t);
  tg_observers_flush(s, L);
  stop(L, t);
  return 1;
}

/* ---- the object ---- */

/* Also an empty one, which has ended: it has no stream, no name and no
   session. */
static tg_Trace *check_trace (lua_State *L) {
  return luaL_checkudata(L, 1, TG_TRACE);
}

/* Stopping twice is fine. Who reads it flushes before. The object is what is
   returned, so that 'tracegrip.start{}:stop()' can be read. */
static int trace_stop (lua_State *L) {
  tg_Trace *t = check_trace(L);
  if (tg_observers_watch(t->session, t))
    tg_observers_flush(t->session, L);
  if (t->session != NULL)
    stop(L, t);
  lua_settop(L, 1);
  return 1;
}

/* Frees all that the trace holds. Observers first: a feed has the trace's
   address in a list, and a client's mirror of the trace is to stop. The trace
   is zeroed then, so that it may be released twice: by forget, then by its
   finalizer. */
static void release (lua_State *L, tg_Trace *t) {
  tg_observers_replaced(tg_session_find(L), L, t, false, NULL);
  if (t->session != NULL)
    tg_tracing_stop(t->session, L, t);
  tg_assert(t->session == NULL && t->file == NULL);
  tg_cursor_drop(&t->hold);
  tg_cursor_drop(&t->makers);
  tg_stream_unpin(t->stream);
  tg_options_free(&t->options);
  tg_free(t->name);
  tg_log_free(t->log);
  tg_tracefile_free_plan(t->plan);
  tg_program_unpin(t->recorded.program);
  memset(t, 0, sizeof *t);
  t->end = TG_END_STOPPED;
}

/* An anchored trace is only collected when its state closes. Terminated, so
   that its frames do not seem to be open for ever to whoever still reads the
   stream. */
static int trace__gc (lua_State *L) {
  tg_Trace *t = check_trace(L);
  if (t->session != NULL && t->anchored)
    tg_tracing_terminate(t->session);
  release(L, t);
  return 0;
}

/* restart(trace): the trace forgets its events, and begins here. False: it has
   ended. */
int trace_restart (lua_State *L) {
  tg_Trace *t = check_trace(L);
  luaL_argcheck(L, !t->consumed, 1, "a trace that nobody reads as it goes");
  lua_pushboolean(L, t->session != NULL && tg_tracing_restart(t->session, t));
  return 1;
}

/* pause(trace) -> boolean: what runs from here on is not seen, if nobody else
   traces; whether it was until now. For a test runner, which traces the tests
   and not itself. */
int trace_pause (lua_State *L) {
  lua_pushboolean(L, tg_pause_begin(L, check_trace(L)));
  return 1;
}

/* resume(trace): it is again. */
int trace_resume (lua_State *L) {
  tg_pause_end(L, check_trace(L));
  return 0;
}

/* All that it holds goes now, for a trace that nobody will read: the collector
   would come much too late, as it sees a userdata of a few hundred bytes and
   not the chunks behind it. */
void tg_trace_forget (lua_State *L, tg_Trace *t) {
  tg_trace_halt(L, t);
  release(L, t);
}

int trace_forget (lua_State *L) {
  tg_trace_forget(L, check_trace(L));
  return 0;
}

/* A 'local trace <close>' is not told to clients as stopped: it is the
   program's own. */
static int trace__close (lua_State *L) {
  tg_Trace *t = check_trace(L);
  if (t->session != NULL)
    tg_trace_halt(L, t);
  return 0;
}

/* One that has been forgotten has no name any more. */
static int trace__tostring (lua_State *L) {
  const tg_Trace *t = check_trace(L);
  lua_pushfstring(L, "%s: %s (%s)", TG_TRACE, t->name ? t->name : "?",
                  t->session ? "active" : "stopped");
  return 1;
}

/* A method is found by a raw access, and those that begin with "__" are not
   given away: __gc called by a program would release what is still used. */
static int trace__index (lua_State *L) {
  tg_Trace *t = check_trace(L);
  const char *key = (lua_type(L, 2) == LUA_TSTRING) ? lua_tostring(L, 2) : "";
  if (tg_tracefields_push(L, t, key))
    return 1;
  luaL_getmetatable(L, TG_TRACE);
  lua_pushvalue(L, 2);
  lua_rawget(L, -2);
  if (!lua_iscfunction(L, -1) || strncmp(key, "__", 2) == 0)
    lua_pushnil(L);
  return 1;
}

/* Trace objects by address, as long as they live: weak values, so that the list
   keeps none of them. */
static void setup_list (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_traces) == LUA_TNIL) {
    lx_weak_list(L, 0);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &tg_key_traces);
  }
  lua_pop(L, 1);
}

/* "__metatable" without a function hides the metatable (lx_class). */
void tg_trace_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"stop", trace_stop},
    {"__index", trace__index},
    {"__gc", trace__gc},
    {"__close", trace__close},
    {"__tostring", trace__tostring},
    {"__metatable", NULL},
    {NULL, NULL}
  };
  lx_class(L, TG_TRACE, methods);
  setup_list(L);
}
