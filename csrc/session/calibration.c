/*
** calibration.c - see calibration.h. Called when tracing begins in a state, on
** its thread and before it is hooked; in the hook only for a client's trace, so
** nothing is raised through it. Whatever fails leaves no costs: times are then
** those of the recording, as they are of an older one.
**
** The probe is a state of its own, which is traced by the same hook. The probe
** runs jobs, each some calls of one sort. A job takes longer when it is
** traced: the difference is the sum of the costs of its events. If only one
** cost in the sum is not known yet, the job tells that cost:
**
**     job        events of one turn                           tells
**     CALLS      CALL, RETURN                                 both, by where
**     C_CALLS    the same of a C function                     the gaps are
**     TAILS      CALL, CALL with TAIL, RETURN                 TAIL
**     SWITCHES   CALL, RESUME, RETURN, CALL, YIELD, RETURN    SWITCHER, by
**                                                             gaps; SWITCH
**     THROWS     CALL of pcall, CALL of error, THROW, RETURN  RAISER, THROW
**     VALUES     CALL with a number, RETURN with one          VALUES
**     TABLES, PROPERTIES, FUNCTIONS, STRINGS                  what these cost
**                the same with an empty table, with one of     more than a
**                eight properties, a function, a long string   number
**
** Each job has several runs, and the median counts: other work of the machine
** makes some runs longer, and is not the hook's. Runs with a trace and without
** take turns, since a machine's speed can change meanwhile. Gauges (event.h)
** tell, in runs of their own, how much of the cost of the two pairs is the
** hook's own work. Gauges are as rare there as they will be later: a branch
** that the processor does not expect leads to them, and a gauge includes that.
*/
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "session/calibration.h"
#include "base/alloc.h"
#include "host/ownfunctions.h"
#include "session/traceinfo.h"
#include "session/tracer.h"
#include "session/tracing.h"

#define TURNS 40        /* of one run */
#define PROPERTIES 8    /* of the table 'v' */
#define FIRST_JOB 4     /* on the probe's stack */
#define PARTS 3         /* after each other, each with all rounds */
#define RUNS 3          /* of each job, in each part */
#define TRACED (PARTS * RUNS)
#define BARE ((PARTS + 1) * RUNS)   /* before and after each part */
#define GAUGED_RUNS 12  /* of a job whose gauges are wanted: they are few */
#define GAUGES 256      /* of one kind that are kept */

typedef enum Job {
  JOB_CALLS, JOB_C_CALLS, JOB_TAILS, JOB_SWITCHES, JOB_THROWS, JOB_VALUES,
  JOB_TABLES, JOB_PROPERTIES, JOB_FUNCTIONS, JOB_STRINGS, JOB_ALIKE, NJOBS
} Job;

/* What the jobs call, and the jobs in their order. */
static const char program[] =
  "local nothing, wrap, yield, pcall, error = ...\n"
  "local function f () end\n"
  "local function t () return f() end\n"
  "local function g (a) return a end\n"
  "local w = wrap(function () while true do yield() end end)\n"
  "local v = {a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8}\n"
  "local e, s = {}, ('x'):rep(100)\n"
  "return function (n) for i = 1, n do f() end end,\n"
  "  function (n) for i = 1, n do nothing() end end,\n"
  "  function (n) for i = 1, n do t() end end,\n"
  "  function (n) for i = 1, n do w() end end,\n"
  "  function (n) for i = 1, n do pcall(error) end end,\n"
  "  function (n) for i = 1, n do g(i) end end,\n"
  "  function (n) for i = 1, n do g(e) end end,\n"
  "  function (n) for i = 1, n do g(v) end end,\n"
  "  function (n) for i = 1, n do g(f) end end,\n"
  "  function (n) for i = 1, n do g(s) end end,\n"
  "  function (n) for i = 1, n do g(v) end end\n";

/* Ticks of one turn of a job, in all its runs. */
typedef struct Times {
  double all[BARE];
  double inside[TRACED];    /* of that, after calls that the job makes... */
  double deeper[TRACED];    /* ...and after calls inside of these */
} Times;

/* What gauges have shown of one kind of event, in ticks. */
typedef struct Gauges {
  double ticks[GAUGES];
  size_t n;
} Gauges;

typedef struct GaugedPair {
  Gauges calls, returns;
} GaugedPair;

typedef struct Calibration {
  Times bare[NJOBS];
  Times plain[NJOBS];       /* nothing is captured */
  Times unsure;             /* JOB_CALLS, of functions that share their line */
  Times sites;              /* JOB_CALLS, with call sites */
  Times values[NJOBS - JOB_VALUES];   /* with values */
  GaugedPair lua, c;        /* JOB_CALLS, JOB_C_CALLS */
} Calibration;

/* A trace of the probe's, and which jobs run in it. */
typedef struct Round {
  uint32_t types;
  bool unsure;
  bool whole;               /* no table is told by another one */
  Job first, last;
  Times *times;             /* of the first one, the others follow... */
  GaugedPair *gauged;       /* ...or NULL, and its gauges */
} Round;

/* ---- the probe ---- */

/* The least that a C function can do. */
static int nothing (lua_State *L) {
  (void)L;
  return 0;
}

static void run_job (lua_State *L, Job job) {
  lua_pushvalue(L, FIRST_JOB + (int)job);
  lua_pushinteger(L, TURNS);
  lua_call(L, 1, 0);
}

/* 'at': the first of these runs. */
static void run_bare (lua_State *L, Times *times, int at) {
  for (int i = 0; i < RUNS; i++) {
    for (int job = 0; job < NJOBS; job++) {
      uint64_t before = tg_clock_ticks();
      run_job(L, (Job)job);
      times[job].all[at + i]
          = (double)(tg_clock_ticks() - before) / TURNS;
    }
  }
}

/* Runs each job once for nothing, in which its functions are defined. */
static void run_round (lua_State *L, const Round *r) {
  int runs = r->gauged != NULL ? GAUGED_RUNS : RUNS;
  for (int i = -1; i < runs; i++) {
    for (Job job = r->first; job <= r->last; job++)
      run_job(L, job);
    if (i < 0 && !r->unsure)
      tg_catalog_trust(&tg_session_find(L)->known);
  }
}

/* ---- what it has taken ---- */

/* A run as it is read. */
typedef struct Run {
  uint64_t begun_ns, before_ns, inside_ns, deeper_ns;
  uint64_t *part;           /* what the time up to the next packet is of */
} Run;

/* Whether the packet ends a run. Jobs are at depth 0, what they call at 1. */
static bool add_packet (Run *r, const tg_Packet *p) {
  bool enter = p->why == TG_WHY_ENTER;
  if (enter && p->depth == 0)
    *r = (Run){.begun_ns = p->time_ns};
  if (r->part != NULL)
    *r->part += p->time_ns - r->before_ns;
  r->before_ns = p->time_ns;
  r->part = !enter || p->depth == 0 ? NULL
            : p->depth == 1 ? &r->inside_ns : &r->deeper_ns;
  return !enter && p->depth == 0;
}

/* Runs came job by job, those for nothing first. */
static void note_run (const Round *round, int part, int n, const Run *r,
                      double ns_per_tick) {
  int jobs = (int)(round->last - round->first) + 1;
  Times *t = &round->times[n % jobs];
  int i = n / jobs - 1;
  double per_turn = ns_per_tick * TURNS;
  if (i < 0 || i >= RUNS)
    return;
  i += part * RUNS;
  t->all[i] = (double)(r->before_ns - r->begun_ns) / per_turn;
  t->inside[i] = (double)r->inside_ns / per_turn;
  t->deeper[i] = (double)r->deeper_ns / per_turn;
}

static void read_times (const Round *round, int part, const tg_Trace *t) {
  tg_Packet p;
  Run run = {0};
  int n = 0;
  tg_Reader *r = tg_traceinfo_reader(t);
  while (r != NULL && tg_reader_next(r, tg_traceinfo_stop_pos(t), &p)) {
    if (add_packet(&run, &p))
      note_run(round, part, n++, &run, t->stream->clock.ns_per_tick);
  }
  tg_reader_free(r);
}

/* Of the last event, if its kind is gauged. The job's own call and return are
   among them, which is a Lua function: few, so no median is theirs. */
static void note_gauge (GaugedPair *pair, tg_Kind kind, uint64_t ticks) {
  Gauges *g = kind == TG_EV_CALL ? &pair->calls : &pair->returns;
  if ((kind == TG_EV_CALL || kind == TG_EV_RETURN) && g->n < GAUGES)
    g->ticks[g->n++] = (double)ticks;
}

/* As events, since no packet has them. A part begins with them: so few are in
   one chunk. */
static void read_gauges (GaugedPair *pair, const tg_Trace *t) {
  tg_Cursor at;
  const uint8_t *data, *origin;
  size_t size, used;
  tg_Event e = {0};
  tg_Kind last = TG_EV_NONE;
  tg_cursor_copy(&at, &t->hold);
  origin = at.chunk->block->data;
  while ((size = tg_cursor_peek(&at, &data)) > 0
         && (used = tg_event_decode(&origin, data, size, &e)) > 0) {
    at.offset += (uint32_t)used;
    if (tg_event_gauges(&e))
      note_gauge(pair, last, e.ticks);
    last = e.kind;
  }
  tg_cursor_drop(&at);
}

/* Traces of the probe are known to nobody but this file and its session. */
static bool begin_trace (lua_State *L, tg_Trace *t, uint32_t types) {
  *t = (tg_Trace){.origin = TG_ORIGIN_WATCH, .name = tg_strcopy("probe")};
  tg_options_init(&t->options);
  t->options.types = types;
  return t->name != NULL
         && tg_tracing_start(tg_tracer_get(L), L, t) == TG_OK;
}

static void stop_trace (lua_State *L, tg_Trace *t) {
  if (t->session != NULL)
    tg_tracing_stop(t->session, L, t);
}

static void drop_trace (tg_Trace *t) {
  tg_cursor_drop(&t->hold);
  tg_stream_unpin(t->stream);
  tg_options_free(&t->options);
  tg_free(t->name);
}

static void trace_round (lua_State *L, const Round *round, int part) {
  tg_Trace t;
  if (begin_trace(L, &t, round->types)) {
    t.session->capture.whole = round->whole;
    run_round(L, round);
    stop_trace(L, &t);
    if (round->gauged != NULL)
      read_gauges(round->gauged, &t);
    else
      read_times(round, part, &t);
  }
  drop_trace(&t);
}

/* All rounds of a part, beside a trace that asks for nothing: what the first
   trace makes and the last one frees is made once, as are definitions. */
static void trace_part (lua_State *L, const Round *rounds, size_t n,
                        int part) {
  tg_Trace beside;
  if (begin_trace(L, &beside, 0)) {
    for (size_t i = 0; i < n; i++)
      trace_round(L, &rounds[i], part);
  }
  stop_trace(L, &beside);
  drop_trace(&beside);
}

static void push_jobs (lua_State *L) {
  static const char *const names[] = {"wrap", "yield"};
  luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
  luaL_requiref(L, LUA_COLIBNAME, luaopen_coroutine, 0);
  luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 0);
  if (luaL_loadbuffer(L, program, sizeof program - 1, "=probe") != LUA_OK)
    lua_error(L);
  lua_pushcfunction(L, nothing);
  for (int i = 0; i < 2; i++)
    lua_getfield(L, 2, names[i]);
  lua_getglobal(L, "pcall");
  lua_getglobal(L, "error");
  lua_call(L, 5, NJOBS);
}

/* Protected, in the probe. Calls by a C function of ours are hidden, unless the
   function is shown itself. The round that is unsure of functions comes first:
   they are known as long as there is a trace. */
static int calibrate (lua_State *L) {
  Calibration *c = lua_touserdata(L, 1);
  const uint32_t values = TG_TYPE_ARGUMENTS | TG_TYPE_RETURN;
  const Round rounds[] = {
    {0, true, false, JOB_CALLS, JOB_CALLS, &c->unsure, NULL},
    {0, false, false, JOB_CALLS, JOB_CALLS, NULL, &c->lua},
    {0, false, false, JOB_C_CALLS, JOB_C_CALLS, NULL, &c->c},
    {0, false, false, JOB_CALLS, JOB_THROWS, c->plain, NULL},
    {TG_TYPE_CALLSITE, false, false, JOB_CALLS, JOB_CALLS, &c->sites, NULL},
    {values, false, true, JOB_VALUES, JOB_STRINGS, c->values, NULL},
    {values, false, false, JOB_ALIKE, JOB_ALIKE,
     &c->values[JOB_ALIKE - JOB_VALUES], NULL},
  };
  tg_ownfunctions_except(nothing);
  tg_ownfunctions_except(calibrate);
  lua_settop(L, 0);
  push_jobs(L);
  run_bare(L, c->bare, 0);
  for (int part = 0; part < PARTS; part++) {
    trace_part(L, rounds, sizeof rounds / sizeof rounds[0], part);
    run_bare(L, c->bare, (part + 1) * RUNS);
  }
  return 0;
}

/* ---- the costs ---- */

static int compare (const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median (double *list, size_t n) {
  qsort(list, n, sizeof *list, compare);
  return list[n / 2];
}

/* The median of runs that were traced, and of those that were not. */
static double traced (Times *t) {
  return median(t->all, TRACED);
}

static double bare (Calibration *c, Job job) {
  return median(c->bare[job].all, BARE);
}

/* What tracing adds to one turn of a job. */
static double added (Calibration *c, Job job) {
  return traced(&c->plain[job]) - bare(c, job);
}

static uint32_t whole (double ticks) {
  return ticks > 0 ? (uint32_t)(ticks + 0.5) : 0;
}

/* A quarter of an empty function's turn is its own: the time from when its
   frame is the running one, as a sampler that looks at the frame has it. */
static void set_pair (Calibration *c, tg_Costs *costs, Job job, tg_Cost call,
                      tg_Cost leave) {
  double inside = median(c->plain[job].inside, TRACED) - bare(c, job) / 4;
  costs->ticks[call] = whole(inside);
  costs->ticks[leave] = whole(added(c, job) - inside);
}

/* The cost of a value in one event: each turn has two events with a value. */
static double captured (Calibration *c, Job job) {
  double all = traced(&c->values[job - JOB_VALUES]) - bare(c, job);
  return (all - added(c, JOB_CALLS)) / 2;
}

static void set_values (Calibration *c, tg_Costs *costs) {
  double number = captured(c, JOB_VALUES), table = captured(c, JOB_TABLES);
  double properties = captured(c, JOB_PROPERTIES);
  double alike = captured(c, JOB_ALIKE);
  costs->ticks[TG_COST_VALUES] = whole(number);
  costs->ticks[TG_COST_TABLE] = whole(table - number);
  costs->ticks[TG_COST_PROPERTY] = whole((properties - table) / PROPERTIES);
  costs->ticks[TG_COST_ALIKE] = whole((alike - table) / PROPERTIES);
  costs->ticks[TG_COST_FUNCTION]
      = whole(captured(c, JOB_FUNCTIONS) - number);
  costs->ticks[TG_COST_STRING] = whole(captured(c, JOB_STRINGS) - number);
}

/* What is in the gap after a call of C that switches or raises, beyond what is
   in any. Of the time without a trace a good third is there, too. */
static double noted (double gap, double all, double call) {
  double more = gap - all * 3 / 8 - call;
  return more > 0 ? more : 0;
}

/* A turn of SWITCHES has two calls that switch, and two switches. */
static void set_switches (Calibration *c, tg_Costs *costs) {
  Times *t = &c->plain[JOB_SWITCHES];
  double gap = (median(t->inside, TRACED) + median(t->deeper, TRACED)) / 2;
  double call = noted(gap, bare(c, JOB_SWITCHES), costs->ticks[TG_COST_CALL_C]);
  costs->ticks[TG_COST_SWITCHER] = whole(call);
  costs->ticks[TG_COST_SWITCH]
      = whole((added(c, JOB_SWITCHES) - 2 * added(c, JOB_C_CALLS)) / 2 - call);
}

/* One of THROWS has a call of pcall, which returns, and one of error. */
static void set_throws (Calibration *c, tg_Costs *costs) {
  double gap = median(c->plain[JOB_THROWS].deeper, TRACED);
  double call = noted(gap, bare(c, JOB_THROWS), costs->ticks[TG_COST_CALL_C]);
  costs->ticks[TG_COST_RAISER] = whole(call);
  costs->ticks[TG_COST_THROW]
      = whole(added(c, JOB_THROWS) - added(c, JOB_C_CALLS)
              - costs->ticks[TG_COST_CALL_C] - call);
}

static void set_work (tg_Costs *costs, GaugedPair *pair, tg_Cost call,
                      tg_Cost leave) {
  if (pair->calls.n == 0 || pair->returns.n == 0)
    return;     /* hooks that are never quick */
  costs->ticks[call] = whole(median(pair->calls.ticks, pair->calls.n));
  costs->ticks[leave] = whole(median(pair->returns.ticks, pair->returns.n));
}

/* Where there is a hook the interpreter itself takes a longer way, and after a
   hook the processor does not foresee what it would have. Ticks meet that in
   the function that is called. How much it is no clock tells, only ticks by the
   thousand (docs/truetimes.md): a twelfth of the costs on AMD's processors, and
   on Intel's as often less than nothing as more. */
#define LEANING 12

static bool processor_leans (void) {
#if defined(__x86_64__)
  unsigned int most, name[3];
  return __get_cpuid(0, &most, &name[0], &name[2], &name[1])
         && memcmp(name, "AuthenticAMD", sizeof name) == 0;
#else
  return false;
#endif
}

static void set_leaning (tg_Costs *costs) {
  if (processor_leans())
    costs->ticks[TG_COST_LEANING] =
        (costs->ticks[TG_COST_CALL] + costs->ticks[TG_COST_RETURN]) / LEANING;
}

static void work_out (Calibration *c, tg_Costs *costs) {
  double calls = added(c, JOB_CALLS);
  set_pair(c, costs, JOB_CALLS, TG_COST_CALL, TG_COST_RETURN);
  set_pair(c, costs, JOB_C_CALLS, TG_COST_CALL_C, TG_COST_RETURN_C);
  set_leaning(costs);
  costs->ticks[TG_COST_TAIL] = whole(added(c, JOB_TAILS) - calls);
  set_switches(c, costs);
  set_throws(c, costs);
  costs->ticks[TG_COST_UNSURE]
      = whole(traced(&c->unsure) - traced(&c->plain[JOB_CALLS]));
  costs->ticks[TG_COST_SITE]
      = whole(traced(&c->sites) - traced(&c->plain[JOB_CALLS]));
  set_values(c, costs);
  set_work(costs, &c->lua, TG_COST_WORK_CALL, TG_COST_WORK_RETURN);
  set_work(costs, &c->c, TG_COST_WORK_CALL_C, TG_COST_WORK_RETURN_C);
}

void tg_calibration_measure (tg_Costs *costs) {
  memset(costs, 0, sizeof *costs);
  Calibration *c = tg_calloc(1, sizeof *c);
  lua_State *L = (c != NULL) ? luaL_newstate() : NULL;
  if (L != NULL) {
    lua_pushcfunction(L, calibrate);
    lua_pushlightuserdata(L, c);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK)
      work_out(c, costs);
    lua_close(L);
  }
  tg_free(c);
}
