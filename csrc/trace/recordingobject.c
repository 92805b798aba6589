#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/recordingobject.h"
#include "base/alloc.h"
#include "binding/readoptions.h"
#include "recording/open.h"
#include "session/snapshot.h"
#include "session/tracefile.h"
#include "session/tracelimits.h"
#include "session/tracesave.h"
#include "trace/readtrace.h"
#include "trace/trace.h"

#define TG_RECORDING "tracegrip.Recording"

typedef struct Recording {
  tg_Recording *r;          /* owns */
  char *path;               /* owns */
} Recording;                /* its user value: a list of its Traces */

/* ---- who is recorded ---- */

static char *copy_string (lua_State *L, int i) {
  size_t size;
  const char *s = lua_tolstring(L, i, &size);
  return s != NULL ? tg_strdup(s, size) : NULL;
}

/* The strings of the list on top of the stack, which is popped. */
static bool read_arguments (lua_State *L, tg_Program *p) {
  lua_Unsigned n = lua_istable(L, -1) ? lua_rawlen(L, -1) : 0;
  p->arguments = tg_calloc(n + 1, sizeof *p->arguments);
  for (lua_Unsigned i = 1; p->arguments != NULL && i <= n; i++) {
    bool string = lua_rawgeti(L, -1, (lua_Integer)i) == LUA_TSTRING;
    char *copy = string ? copy_string(L, -1) : tg_strdup("?", 1);
    lua_pop(L, 1);
    if (copy == NULL)
      break;
    p->arguments[p->count++] = copy;
  }
  lua_pop(L, 1);
  return p->arguments != NULL && p->count == n;
}

/* Name and arguments as the two values on top of the stack say; pops them. */
static bool fill_program (lua_State *L, tg_Program *p) {
  bool named = lua_type(L, -2) == LUA_TSTRING;
  p->name = named ? copy_string(L, -2) : NULL;
  p->tracegrip = tg_strdup(TG_VERSION, strlen(TG_VERSION));
  p->lua = tg_strdup(LUA_RELEASE, strlen(LUA_RELEASE));
  bool ok = read_arguments(L, p);
  lua_pop(L, 1);
  return ok && p->tracegrip != NULL && p->lua != NULL
         && (p->name != NULL || !named);
}

/* The running program, as the standard interpreter's "arg" has it. */
static bool running_program (lua_State *L, tg_Program *p) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushliteral(L, "arg");
  if (lua_rawget(L, -2) == LUA_TTABLE)
    lua_rawgeti(L, -1, 0);
  else
    lua_pushnil(L);
  lua_replace(L, -3);       /* name, arg */
  return fill_program(L, p);
}

/* ---- recording ---- */

static bool flag (lua_State *L, int i, const char *name) {
  lua_getfield(L, i, name);
  bool b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

static void read_plan (lua_State *L, int i, tg_Trace *t) {
  tg_FilePlan *plan = tg_calloc(1, sizeof *plan);
  t->plan = plan;
  if (plan == NULL)
    luaL_error(L, "not enough memory");
  if (lua_getfield(L, i, "path") != LUA_TSTRING)
    luaL_error(L, "field 'path': a string expected, got %s",
               luaL_typename(L, -1));
  plan->path = copy_string(L, -1);
  plan->exclusive = flag(L, i, "exclusive");
  plan->force = flag(L, i, "force");
  lua_getfield(L, i, "run");
  plan->run = (uint32_t)lua_tointeger(L, -1);
  plan->sources = flag(L, i, "sources");
  plan->tells = flag(L, i, "tells");
  plan->single = flag(L, i, "single");
  plan->ring = t->options.overflow == TG_OVERFLOW_RING;
  lua_getfield(L, i, "program");
  lua_getfield(L, i, "arguments");
  if (!fill_program(L, &plan->program) || plan->path == NULL)
    luaL_error(L, "not enough memory");
}

/* A file may grow as long as the disk allows, if nothing else is said. */
static void unbounded (lua_State *L, int i, tg_Options *o) {
  if (lua_istable(L, i)) {
    lua_pushliteral(L, "buffer");
    bool given = lua_rawget(L, i) != LUA_TNIL;
    lua_pop(L, 1);
    if (given)
      return;
  }
  if (o->overflow != TG_OVERFLOW_RING)
    o->buffer = UINT64_MAX / 4;
}

int record_start (lua_State *L) {
  lua_settop(L, 2);
  luaL_checktype(L, 2, LUA_TTABLE);
  tg_Trace *t = tg_trace_new(L);
  tg_options_read(L, 1, NULL, &t->options);
  unbounded(L, 1, &t->options);
  read_plan(L, 2, t);
  lua_getfield(L, 2, "name");
  if (!tg_trace_begin(L, t, luaL_optstring(L, -1, "program"), TG_ORIGIN_FILE,
                      NULL))
    return luaL_fileresult(L, 0, t->plan->path);
  lua_pushvalue(L, 3);
  tg_trace_anchor(L, t);
  if (t->plan->ring && !t->plan->single)
    tg_snapshot_on(t->session);
  lua_pushstring(L, tg_filewriter_path(t->file));
  lua_pushvalue(L, 3);
  return 2;
}

/* ---- saving ---- */

int trace_save (lua_State *L) {
  tg_Trace *t = tg_readtrace_check(L);
  const char *path = luaL_checkstring(L, 2);
  tg_Program *p = t->program;
  if (t->consumed)
    return luaL_error(L, "the packets of this trace are read as they come");
  if (p == NULL) {
    p = t->program = tg_program_new(NULL);
    if (p == NULL || !running_program(L, p))
      return luaL_error(L, "not enough memory");
  }
  tg_Status status = tg_tracesave(t, p, path);
  return luaL_fileresult(L, status == TG_OK, path);
}

/* ---- opening ---- */

/* What of the trace is lost: as it was noted, but of a ring what is not in the
   file any more, which may be more by the time the file ends, and which of one
   that was cut off nobody has noted. */
static void fill_losses (tg_Trace *t, const tg_TraceEntry *e,
                         const tg_Recording *r) {
  const tg_Chunk *first = t->stream->store.first;
  memcpy(t->lost, e->end.lost, sizeof t->lost);
  if (first == NULL || first->base <= e->start)
    return;
  t->start = first->base < t->stop ? first->base : t->stop;
  uint64_t gone = first->packets;
  if (e->end.why != TG_END_NOT && e->end.packets < gone)
    gone = e->end.packets;
  if (r->header.ring != 0 && gone > e->packets)
    t->lost[TG_LOSS_RING] = gone - e->packets;
}

static void fill_end (tg_Trace *t, const tg_TraceEntry *e,
                      const tg_Recording *r) {
  bool cut = e->end.why == TG_END_NOT || e->end.stop > r->end;
  t->end = e->end.why == TG_END_NOT ? TG_END_STOPPED : (tg_End)e->end.why;
  t->stop = cut ? r->end : e->end.stop;
  t->ticks_end = cut ? r->ticks : e->end.ticks;
  t->packets_end = TG_PACKETS_UNKNOWN;  /* the note counts for all traces */
  if (t->ticks_end < t->ticks_start)
    t->ticks_end = t->ticks_start;
}

/* Pushes the Trace of an entry; its program is that of 'first', NULL for the
   first one. */
static tg_Trace *push_trace (lua_State *L, const tg_Recording *r,
                             const tg_TraceEntry *e, const tg_Trace *first) {
  tg_Trace *t = tg_trace_new(L);
  t->stream = tg_stream_pin(r->stream);
  t->origin = TG_ORIGIN_FILE;
  t->start = e->start;
  t->ticks_start = e->ticks;
  t->packets_start = e->packets;
  t->name = tg_strdup(e->name, strlen(e->name));
  t->program = first != NULL ? tg_program_pin(first->program)
                             : tg_program_new(&r->program);
  if (t->name == NULL || t->program == NULL
      || !tg_options_copy(&t->options, &e->options))
    luaL_error(L, "not enough memory");
  fill_end(t, e, r);
  fill_losses(t, e, r);
  return t;
}

static int open_failure (lua_State *L, const char *path, tg_Status status,
                         const char *reason) {
  if (status == TG_ERR_MEMORY)
    errno = ENOMEM;
  if (status != TG_ERR_FORMAT)
    return luaL_fileresult(L, 0, path);
  lua_pushfstring(L, "%s: %s", path, reason);
  return tg_trace_failure(L, "notARecording", lua_tostring(L, -1));
}

int recording_open (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  char reason[160];
  tg_Status status;
  Recording *u = lua_newuserdatauv(L, sizeof *u, 1);
  memset(u, 0, sizeof *u);
  luaL_setmetatable(L, TG_RECORDING);
  u->path = tg_strdup(path, strlen(path));
  u->r = tg_recording_open(path, &status, reason, sizeof reason);
  if (u->r == NULL)
    return open_failure(L, path, status, reason);
  lua_createtable(L, (int)u->r->count, 0);
  const tg_Trace *first = NULL;
  for (uint32_t i = 0; i < u->r->count; i++) {
    const tg_Trace *t = push_trace(L, u->r, &u->r->traces[i], first);
    first = first != NULL ? first : t;
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setiuservalue(L, -2, 1);
  return 1;
}

/* ---- the object ---- */

static Recording *check_recording (lua_State *L) {
  Recording *u = luaL_checkudata(L, 1, TG_RECORDING);
  if (u->r == NULL)
    luaL_error(L, "this recording has been collected");
  return u;
}

static int recording_traces (lua_State *L) {
  Recording *u = check_recording(L);
  lua_getiuservalue(L, 1, 1);
  lua_createtable(L, (int)u->r->count, 0);
  for (uint32_t i = 1; i <= u->r->count; i++) {
    lua_rawgeti(L, -2, i);
    lua_rawseti(L, -2, i);
  }
  return 1;
}

/* trace(name) -> Trace | nil, message, code; the first one without a name. Of
   several with one name, the last. */
static int recording_trace (lua_State *L) {
  const Recording *u = check_recording(L);
  const char *name = luaL_optstring(L, 2, NULL);
  uint32_t i = (name != NULL) ? u->r->count : (u->r->count > 0);
  while (i > 0 && name != NULL && strcmp(u->r->traces[i - 1].name, name) != 0)
    i--;
  if (i == 0) {
    if (name == NULL)
      return tg_trace_failure(L, "noSuchTrace", "no trace in this recording");
    lua_pushfstring(L, "no trace named '%s' in this recording", name);
    return tg_trace_failure(L, "noSuchTrace", lua_tostring(L, -1));
  }
  lua_getiuservalue(L, 1, 1);
  lua_rawgeti(L, -1, i);
  return 1;
}

static void set_string (lua_State *L, const char *key, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

static void set_integer (lua_State *L, const char *key, uint64_t value) {
  lua_pushinteger(L, (lua_Integer)value);
  lua_setfield(L, -2, key);
}

static void set_number (lua_State *L, const char *key, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, key);
}

/* What takes reading all of a trace. */
typedef struct Measure {
  uint64_t events;
  uint32_t threads;
  uint64_t start_ns, end_ns;
} Measure;

/* The time is that of a report: of what is kept, and the clock of a trace and
   its packets may differ by a tick. */
static void measure (lua_State *L, tg_ReadTrace *r, tg_Pace *pace, Measure *m) {
  tg_Packet p = {0};
  uint64_t first_ns = UINT64_MAX;
  *m = (Measure){0};
  while (!pace->raised && tg_reader_next(r->reader, r->stop, &p)) {
    if (m->events++ == 0)
      first_ns = p.time_ns;
    if (p.thread > m->threads)
      m->threads = p.thread;
  }
  if (pace->raised)
    lua_error(L);
  tg_readtrace_error(r);    /* notes damage; the rest is not told */
  tg_readtrace_span(r, r->trace, &m->start_ns, &m->end_ns);
  if (first_ns < m->start_ns)
    m->start_ns = first_ns;
  if (p.time_ns > m->end_ns)
    m->end_ns = p.time_ns;
}

/* (trace, progress, before, whole) -> what info says of it; the last three as
   tg_Pace has them. */
static int describe_trace (lua_State *L) {
  Measure m;
  tg_Pace pace;
  tg_ReadTrace *r = tg_readtrace_new(L, 5, NULL, 0);
  tg_Trace *t = r->trace;
  tg_pace_begin(&pace, L, r, 2);
  pace.before = lua_tonumber(L, 3);
  pace.whole = lua_tonumber(L, 4);
  measure(L, r, &pace, &m);
  lua_createtable(L, 0, 9);
  set_string(L, "name", t->name);
  tg_types_push(L, t->options.types);
  lua_setfield(L, -2, "types");
  set_number(L, "start_ms", (double)m.start_ns / 1e6);
  set_number(L, "stop_ms", (double)m.end_ns / 1e6);
  set_number(L, "duration_ms", (double)(m.end_ns - m.start_ns) / 1e6);
  set_integer(L, "events", m.events);
  set_integer(L, "threads", m.threads);
  tg_trace_push_lost(L, t);
  lua_setfield(L, -2, "lost");
  set_string(L, "ended", tg_endreason_name(t->end));
  return 1;
}

/* The bytes of a trace among the list of them at 'i'. */
static double length (lua_State *L, int i, uint32_t n) {
  lua_rawgeti(L, i, n);
  const tg_Trace *t = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return (double)(t->stop - t->start);
}

/* Pushes a list of what describe_trace says of all; 'progress' is at 3. */
static void describe_traces (lua_State *L, const Recording *u) {
  double before = 0, whole = 0;
  lua_getiuservalue(L, 1, 1);
  int traces = lua_gettop(L);
  for (uint32_t i = 1; i <= u->r->count; i++)
    whole += length(L, traces, i);
  lua_createtable(L, (int)u->r->count, 0);
  for (uint32_t i = 1; i <= u->r->count; i++) {
    lua_pushcfunction(L, describe_trace);
    lua_rawgeti(L, traces, i);
    lua_pushvalue(L, 3);
    lua_pushnumber(L, before);
    lua_pushnumber(L, whole);
    lua_call(L, 4, 1);
    lua_rawseti(L, -2, i);
    before += length(L, traces, i);
  }
  lua_remove(L, traces);
}

static void describe_arguments (lua_State *L, const tg_Program *p) {
  lua_createtable(L, (int)p->count, 0);
  for (uint32_t i = 0; i < p->count; i++) {
    lua_pushstring(L, p->arguments[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "arguments");
}

/* Of a remote program it is another one that has recorded it. What is not
   known has no field. */
static void describe_process (lua_State *L, const tg_Recording *r) {
  if (!r->program.remote) {
    describe_arguments(L, &r->program);
    set_integer(L, "pid", r->header.pid);
    return;
  }
  set_integer(L, "recorder", r->header.pid);
  if (r->program.pid != 0)
    set_integer(L, "pid", r->program.pid);
}

static void describe_program (lua_State *L, const tg_Recording *r) {
  set_string(L, "program", r->program.name);
  describe_process(L, r);
  lua_createtable(L, 0, 3);
  set_string(L, "tracegrip", r->program.tracegrip);
  set_string(L, "lua", r->program.lua);
  set_integer(L, "format", r->header.version);
  lua_setfield(L, -2, "versions");
  set_number(L, "date", (double)r->header.wall_ns / 1e9);
  set_integer(L, "run", r->header.run);
}

/* In a word, how the recording came to its end. */
static const char *state_name (const tg_Recording *r) {
  if (r->damaged)
    return "damaged";
  if (r->header.state == TG_FILE_FAILED || r->header.error != 0)
    return "failed";
  if (r->header.state == TG_FILE_COMPLETE && !r->shorter)
    return "complete";
  return r->busy ? "running" : "cut off";
}

/* The figures of the whole: those of the first trace, in the list on top. The
   table that they go into is below it. */
static void describe_whole (lua_State *L, const tg_Recording *r) {
  static const char *const same[] = {
    "duration_ms", "events", "threads", "lost"
  };
  lua_rawgeti(L, -1, 1);
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    lua_getfield(L, -1, same[i]);
    lua_setfield(L, -4, same[i]);
  }
  lua_getfield(L, -1, "events");
  lua_Number events = lua_tonumber(L, -1);
  lua_pop(L, 2);
  if (events > 0) {
    lua_pushnumber(L, (double)r->event_bytes / events);
    lua_setfield(L, -3, "bytes_per_event");
  }
}

/* Damage inside the events shows when they are read. */
static void note_damage (lua_State *L, const Recording *u) {
  tg_Recording *r = u->r;
  lua_getiuservalue(L, 1, 1);
  for (uint32_t i = 1; i <= r->count && !r->damaged; i++) {
    lua_rawgeti(L, -1, i);
    const tg_Trace *t = lua_touserdata(L, -1);
    r->damaged = t->damage != 0;
    if (r->damaged)
      snprintf(r->reason, sizeof r->reason, "no event at byte %" PRIu64,
               t->damage);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static void describe_state (lua_State *L, const Recording *u) {
  note_damage(L, u);
  set_string(L, "state", state_name(u->r));
  if (u->r->reason[0] != '\0')
    set_string(L, "reason", u->r->reason);
}

/* info(brief, progress): all that is known; 'brief': without what takes reading
   all of the events; else 'progress' is told how far that is. */
static int recording_info (lua_State *L) {
  const Recording *u = check_recording(L);
  const tg_Recording *r = u->r;
  bool brief = lua_toboolean(L, 2);
  lua_settop(L, 3);
  lua_createtable(L, 0, 20);
  set_string(L, "path", u->path);
  describe_program(L, r);
  describe_state(L, u);
  set_integer(L, "functions", atomic_load(&r->stream->functions->count));
  set_integer(L, "bytes", r->event_bytes);
  set_integer(L, "file_bytes", r->file_bytes);
  if (brief)
    return 1;
  describe_traces(L, u);
  if (r->count > 0)
    describe_whole(L, r);
  lua_setfield(L, -2, "traces");
  describe_state(L, u);     /* all has been read: now it is known */
  return 1;
}

/* What a Recording has not itself, its first trace has. */
static int forward (lua_State *L) {
  check_recording(L);
  int n = lua_gettop(L);
  lua_getiuservalue(L, 1, 1);
  if (lua_rawgeti(L, -1, 1) == LUA_TNIL)
    return tg_trace_failure(L, "noSuchTrace", "no trace in this recording");
  lua_replace(L, 1);
  lua_settop(L, n);
  lua_getfield(L, 1, lua_tostring(L, lua_upvalueindex(1)));
  lua_insert(L, 1);
  lua_call(L, n, LUA_MULTRET);
  return lua_gettop(L);
}

/* Fields are those of the first trace. */
static int recording__index (lua_State *L) {
  Recording *u = luaL_checkudata(L, 1, TG_RECORDING);
  luaL_getmetatable(L, TG_RECORDING);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TNIL || u->r == NULL || u->r->count == 0)
    return 1;
  lua_getiuservalue(L, 1, 1);
  lua_rawgeti(L, -1, 1);
  lua_pushvalue(L, 2);
  lua_gettable(L, -2);
  return 1;
}

static int recording__gc (lua_State *L) {
  Recording *u = luaL_checkudata(L, 1, TG_RECORDING);
  tg_recording_close(u->r);
  tg_free(u->path);
  memset(u, 0, sizeof *u);
  return 0;
}

static int recording__tostring (lua_State *L) {
  const Recording *u = luaL_checkudata(L, 1, TG_RECORDING);
  lua_pushfstring(L, "%s: %s", TG_RECORDING, u->path ? u->path : "?");
  return 1;
}

static void set_forwards (lua_State *L) {
  static const char *const methods[] = {
    "packets", "export", "report", "tree", "log", "save", "stop"
  };
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    lua_pushstring(L, methods[i]);
    lua_pushcclosure(L, forward, 1);
    lua_setfield(L, -2, methods[i]);
  }
}

void tg_recordings_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"traces", recording_traces},
    {"trace", recording_trace},
    {"info", recording_info},
    {"__index", recording__index},
    {"__gc", recording__gc},
    {"__close", recording__gc},
    {"__tostring", recording__tostring},
    {NULL, NULL}
  };
  if (luaL_newmetatable(L, TG_RECORDING)) {
    luaL_setfuncs(L, methods, 0);
    set_forwards(L);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
  }
  lua_pop(L, 1);
}
