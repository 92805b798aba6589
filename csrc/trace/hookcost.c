/*
** hookcost.c - measures the hook in a state of its own, with the trace types of
** the one who asks. On the caller's thread, whose own tracing sees nothing of
** it; false without memory.
**
** What is looked for is the time that the hook adds after a packet's own time
** was taken: it shows as if the program had spent it, and a client that knows
** it can take it off. Measured and not assumed, since it depends on the machine
** and on what is captured, and each time anew: a clock that has changed its
** speed meanwhile would make it wrong. All figures are means of a call, in
** nanoseconds.
*/
#include <lualib.h>

#include "trace/hookcost.h"
#include "binding/readoptions.h"
#include "session/traceinfo.h"
#include "trace/trace.h"

/* Calls of one run, and runs, of which the shortest counts: together less than
   a millisecond, so that nobody waits for it. */
#define CALLS 500
#define RUNS 7

/* The trace is started in Lua: what our own C functions call is hidden. 'f'
   takes an argument, as most functions do, so that capturing it is in the
   time. */
static const char program[] =
  "local function f (a) return a end "
  "local function run (n) for i = 1, n do f(i) end end "
  "return run, function (start, options, n) "
  "  local trace = start(options) run(n) return trace "
  "end";

enum { RUN = 2, TRACED };   /* what it returns, where it is on the stack */

typedef struct Measure {
  uint32_t types;
  double bare_ns;         /* a call and its return, untraced */
  double enter_ns;        /* the time after the one... */
  double exit_ns;         /* ...and after the other, traced */
} Measure;

/* The least, not the mean: what makes a run longer is the machine, never the
   hook. */
static void keep_least (double *least, double ns) {
  if (*least == 0 || ns < *least)
    *least = ns;
}

/* The same program and the same clock, so that what the loop itself costs is
   in both. */
static void run_bare (lua_State *L, Measure *m) {
  tg_Clock clock;
  tg_clock_start(&clock);
  uint64_t before = tg_clock_ns(&clock, tg_clock_ticks());
  lua_pushvalue(L, RUN);
  lua_pushinteger(L, CALLS);
  lua_call(L, 1, 0);
  uint64_t after = tg_clock_ns(&clock, tg_clock_ticks());
  keep_least(&m->bare_ns, (double)(after - before) / CALLS);
}

/* The mean time after packets of the calls of 'f', which are at depth 1. */
static void read_times (const tg_Trace *t, Measure *m) {
  tg_Packet p;
  uint64_t sum[2] = {0}, count[2] = {0}, before_ns = 0;
  int sort = -1;          /* of the packet before: 0 a call, 1 a return */
  tg_Reader *r = tg_traceinfo_reader(t);
  while (r != NULL && tg_reader_next(r, tg_traceinfo_stop_pos(t), &p)) {
    bool inner = p.depth == 1;
    if (sort >= 0 && inner) {
      sum[sort] += p.time_ns - before_ns;
      count[sort]++;
    }
    sort = inner ? p.why != TG_WHY_ENTER : -1;
    before_ns = p.time_ns;
  }
  tg_reader_free(r);
  if (count[0] > 0 && count[1] > 0) {
    keep_least(&m->enter_ns, (double)sum[0] / (double)count[0]);
    keep_least(&m->exit_ns, (double)sum[1] / (double)count[1]);
  }
}

/* The trace is collected with the state; its memory is a few hundred calls. */
static void run_traced (lua_State *L, Measure *m) {
  lua_pushvalue(L, TRACED);
  lua_pushcfunction(L, trace_start);
  lua_createtable(L, 0, 1);
  tg_readoptions_pushtypes(L, m->types);
  lua_setfield(L, -2, "trace");
  lua_pushinteger(L, CALLS);
  lua_call(L, 3, 1);
  tg_Trace *t = lua_touserdata(L, -1);
  tg_trace_halt(L, t);
  tg_assert(t->session == NULL && t->end != TG_END_NOT);
  read_times(t, m);
  lua_pop(L, 1);
}

/* The program is a string and calls nothing: it needs no module, which might
   not be found here. */
static int measure (lua_State *L) {
  Measure *m = lua_touserdata(L, 1);
  luaL_openlibs(L);
  tg_trace_setup(L);
  if (luaL_loadstring(L, program) != LUA_OK)
    return lua_error(L);
  lua_call(L, 0, 2);
  for (int i = 0; i < RUNS; i++) {
    run_bare(L, m);
    run_traced(L, m);
  }
  return 0;
}

/* What is longer than half of a bare call and return. A return's share of a
   bare call is taken to be half; below zero it is noise. */
static uint64_t beyond (const Measure *m, double ns) {
  double more = ns - m->bare_ns / 2;
  return more > 0 ? (uint64_t)(more + 0.5) : 0;
}

/* What fails in the state, for want of memory or because a library is missing,
   makes it false; the costs are 0 then. */
bool tg_hookcost_measure (uint32_t types, tg_ScopeCost *cost) {
  Measure m = {.types = types};
  lua_State *L = luaL_newstate();
  if (L == NULL)
    return false;
  lua_pushcfunction(L, measure);
  lua_pushlightuserdata(L, &m);
  bool ok = lua_pcall(L, 1, 0, 0) == LUA_OK;
  lua_close(L);
  cost->enter_ns = beyond(&m, m.enter_ns);
  cost->exit_ns = beyond(&m, m.exit_ns);
  return ok;
}
