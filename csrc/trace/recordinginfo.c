/*
** recordinginfo.c - the contents of "info": the file, the process that recorded
** it and how it ended, and the figures of each trace, which are known when all
** of it is read. On the thread that runs the state; damage is told, not raised.
*/
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/recordinginfo.h"
#include "binding/tickingnotes.h"
#include "binding/typelist.h"
#include "profile/usage.h"
#include "recording/contents.h"
#include "stream/marks.h"
#include "trace/readtrace.h"
#include "trace/tracefields.h"

/* What takes reading all of a trace. Times are nanoseconds since the stream's
   time 0. */
typedef struct Measure {
  uint64_t events, markers;
  uint32_t threads;
  uint64_t start_ns, end_ns;
  tg_Usage memory;        /* owns; without frames */
  uint64_t collections, collecting_ns;  /* cycles of the collector */
} Measure;

/* The time is that of a report, so that the two agree: of what is kept, and the
   clock of a trace and its packets may differ by a tick. Threads are counted by
   the highest number, since they are given out in order. 'p' is the last packet
   afterwards. */
static void measure (lua_State *L, tg_ReadTrace *r, tg_Pace *pace, Measure *m) {
  tg_Packet p = {0};
  tg_Allocations a;
  uint64_t first_ns = UINT64_MAX;
  while (!pace->raised && tg_reader_next(r->reader, r->stop, &p)) {
    if (first_ns == UINT64_MAX)
      first_ns = p.time_ns;
    m->events += p.why != TG_WHY_MARK;
    m->markers += p.why == TG_WHY_MARK && tg_mark_said(p.mark);
    if (p.thread > m->threads)
      m->threads = p.thread;
    if (p.why == TG_WHY_MARK && p.mark == TG_MARK_COLLECTION) {
      m->collections++;
      m->collecting_ns += p.numbered ? p.hits : 0;
    }
    if (p.why == TG_WHY_MARK && p.mark == TG_MARK_ALLOCATIONS) {
      a = tg_event_allocations(p.values);
      tg_usage_add(&m->memory, &a);
    }
    if (p.why == TG_WHY_MARK && tg_mark_holds(p.mark)
        && !tg_usage_hold(&m->memory, &p, 0))
      luaL_error(L, "not enough memory");
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

/* What of it was there at the end, and in which heap. */
static void describe_live (lua_State *L, const tg_Usage *u) {
  tg_LiveSum live = tg_live_of(&u->live, 0);
  lx_set_integer(L, "live_bytes", (lua_Integer)live.now.bytes);
  lx_set_integer(L, "live_blocks", (lua_Integer)live.now.blocks);
  lx_set_integer(L, "peak_live_bytes", (lua_Integer)live.peak.bytes);
  lx_set_integer(L, "heap_bytes", (lua_Integer)u->heap);
  if (u->live.every > 0)
    lx_set_integer(L, "every_bytes", (lua_Integer)u->live.every);
}

/* What the trace saw allocated, in frames or not. */
static void describe_memory (lua_State *L, const Measure *m) {
  const tg_Usage *u = &m->memory;
  lua_createtable(L, 0, 6);
  if (m->collections > 0) {
    lx_set_integer(L, "collections", (lua_Integer)m->collections);
    lx_set_number(L, "collecting_ms", (double)m->collecting_ns / 1e6);
  }
  lx_set_integer(L, "allocations", (lua_Integer)u->sum.count);
  lx_set_integer(L, "allocated_bytes", (lua_Integer)u->sum.allocated);
  lx_set_integer(L, "freed_bytes", (lua_Integer)u->sum.freed);
  lx_set_integer(L, "peak_bytes", (lua_Integer)u->peak);
  if (u->live.told)
    describe_live(L, u);
  lua_setfield(L, -2, "memory");
}

/* Of a trace that has samples: how many a second were asked for, and taken. */
static void describe_samples (lua_State *L, const tg_ReadTrace *r) {
  const tg_Options *o = &r->trace->options;
  lx_set_integer(L, "sample", o->sample);
  lx_set_integer(L, "samples", (lua_Integer)tg_reader_samples(r->reader));
  if (o->wall) {
    lua_pushboolean(L, true);
    lua_setfield(L, -2, "wall");
  }
}

/* The share of the time in which calls were not to be seen, and how long that
   was. */
static void describe_windows (lua_State *L, const tg_ReadTrace *r) {
  lua_createtable(L, 0, 2);
  lx_set_integer(L, "percent", r->trace->options.windows);
  lx_set_number(L, "calls_unseen_ms",
                (double)tg_reader_untraced(r->reader) / 1e6);
  lua_setfield(L, -2, "windows");
}

static void describe_times (lua_State *L, const tg_ReadTrace *r,
                            const Measure *m) {
  double spent_ns = (double)tg_reader_spent(r->reader);
  double waited_ns = (double)tg_reader_waited(r->reader);
  lx_set_number(L, "start_ms", (double)m->start_ns / 1e6);
  lx_set_number(L, "stop_ms", (double)m->end_ns / 1e6);
  lx_set_number(L, "duration_ms", (double)(m->end_ns - m->start_ns) / 1e6);
  if (spent_ns > 0)
    lx_set_number(L, "tracing_ms", spent_ns / 1e6);
  if (waited_ns > 0)
    lx_set_number(L, "waited_ms", waited_ns / 1e6);
}

/* Reads the trace to its end, as describe_trace was asked. */
static void measure_trace (lua_State *L, tg_ReadTrace *r, Measure *m) {
  tg_Pace pace;
  tg_reader_weigh(r->reader);
  tg_reader_hold(r->reader);
  tg_pace_begin(&pace, L, r, 2);
  pace.before = lua_tonumber(L, 3);
  pace.whole = lua_tonumber(L, 4);
  measure(L, r, &pace, m);
}

static int measure__gc (lua_State *L) {
  tg_usage_free(&((Measure *)lua_touserdata(L, 1))->memory);
  return 0;
}

/* (trace, progress, before, whole) -> what info says of it; the last three as
   tg_Pace has them. A function of its own, called for each trace: what it
   leaves on the stack goes with it, and the reading is collected. No values of
   calls are asked for, so none is looked at. */
static int describe_trace (lua_State *L) {
  tg_ReadTrace *r = tg_readtrace_new(L, 5, NULL,
                                     TG_TYPE_MARKERS | TG_TYPE_ALLOCATIONS);
  tg_Trace *t = r->trace;
  Measure *m = lx_owner(L, sizeof *m, 0, "tracegrip.measure", measure__gc);
  measure_trace(L, r, m);
  lua_createtable(L, 0, 12);
  lx_set_string(L, "name", t->name);
  tg_typelist_push(L, t->options.types);
  lua_setfield(L, -2, "types");
  if (t->options.sample > 0)
    describe_samples(L, r);
  if (t->options.windows > 0)
    describe_windows(L, r);
  if (t->options.types & TG_TYPE_ALLOCATIONS)
    describe_memory(L, m);
  describe_times(L, r, m);
  lx_set_integer(L, "events", (lua_Integer)m->events);
  lx_set_integer(L, "markers", (lua_Integer)m->markers);
  lx_set_integer(L, "threads", m->threads);
  tg_tracefields_push_lost(L, t);
  lua_setfield(L, -2, "lost");
  lx_set_string(L, "ended", tg_endreason_name(t->end));
  return 1;
}

/* The bytes of a trace among the list of them at 'i'. Of a damaged one that is
   more than will be read: the part that is done jumps then. */
static double length (lua_State *L, int i, uint32_t n) {
  lua_rawgeti(L, i, n);
  const tg_Trace *t = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return (double)(t->stop - t->start);
}

/* Pushes a list of what describe_trace says of all. The part that 'progress'
   is told is of all traces together, by their bytes. */
static void describe_traces (lua_State *L, const tg_Recording *r, int traces,
                             int progress) {
  double before = 0, whole = 0;
  tg_assert(lua_istable(L, traces));
  for (uint32_t i = 1; i <= r->count; i++)
    whole += length(L, traces, i);
  lua_createtable(L, (int)r->count, 0);
  for (uint32_t i = 1; i <= r->count; i++) {
    lua_pushcfunction(L, describe_trace);
    lua_rawgeti(L, traces, i);
    lua_pushvalue(L, progress);
    lua_pushnumber(L, before);
    lua_pushnumber(L, whole);
    lua_call(L, 4, 1);
    lua_rawseti(L, -2, i);
    before += length(L, traces, i);
  }
}

/* The command line of the program, without the interpreter and without the name
   of the script (manual, section 7: the table "arg"). */
static void describe_arguments (lua_State *L, const tg_Program *p) {
  lua_createtable(L, (int)p->count, 0);
  for (uint32_t i = 0; i < p->count; i++) {
    lua_pushstring(L, p->arguments[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "arguments");
}

/* A remote program was recorded by another process, whose id is 'recorder'.
   Unknown facts have no field. */
static void describe_process (lua_State *L, const tg_Recording *r) {
  if (!r->program.remote) {
    describe_arguments(L, &r->program);
    lx_set_integer(L, "pid", r->header.pid);
    return;
  }
  lx_set_integer(L, "recorder", r->header.pid);
  if (r->program.pid != 0)
    lx_set_integer(L, "pid", r->program.pid);
}

/* How the hook knew of frames and values: times of both ways should not be
   compared. Recordings of older versions do not say. */
static void describe_frames (lua_State *L, const char *asked) {
  if (asked == NULL)
    return;
  if (*asked == '\0')
    lua_pushliteral(L, "read from memory");
  else
    lua_pushfstring(L, "asked of the public API: %s", asked);
  lua_setfield(L, -2, "frames");
}

/* 'date' is when the recording began, in seconds as os.time has them, with a
   fraction. */
static void describe_program (lua_State *L, const tg_Recording *r) {
  lx_set_string(L, "program", r->program.name);
  describe_process(L, r);
  lua_createtable(L, 0, 3);
  lx_set_string(L, "tracegrip", r->program.tracegrip);
  lx_set_string(L, "lua", r->program.lua);
  lx_set_integer(L, "format", r->header.version);
  lua_setfield(L, -2, "versions");
  describe_frames(L, r->program.asked);
  lx_set_string(L, "directory", r->program.directory);
  lx_set_number(L, "date", (double)r->header.wall_ns / 1e9);
  lx_set_integer(L, "run", r->header.run);
}

/* In a word, how the recording came to its end. Damage tells most, so it comes
   first. A recording whose header says that it is being written is "running"
   only if a process does write it ('busy'). */
static const char *state_name (const tg_Recording *r) {
  if (r->damaged)
    return "damaged";
  if (r->header.state == TG_FILE_FAILED || r->header.error != 0)
    return "failed";
  if (r->header.state == TG_FILE_COMPLETE && !r->shorter)
    return "complete";
  return r->busy ? "running" : "cut off";
}

/* Of what reasons, and how often, samples of another process were given up. */
static void describe_dropped (lua_State *L, const tg_Misses *m) {
  lua_newtable(L);
  for (uint32_t i = 0; i < m->n; i++) {
    if (m->counts[i] > 0)
      lx_set_integer(L, m->reasons[i], (lua_Integer)m->counts[i]);
  }
  lua_setfield(L, -2, "dropped");
}

/* The samples of the first trace, which is at the top; what is known of those
   that are not among them. The result is on top of it. */
static void push_samples (lua_State *L, const tg_Recording *r) {
  const tg_Options *o = &r->traces[0].options;
  lua_newtable(L);
  lua_getfield(L, -2, "samples");
  lua_setfield(L, -2, "taken");
  lx_set_integer(L, "rate", o->sample);
  lx_set_string(L, "clock", o->wall ? "wall" : "cpu");
  if (r->misses.known) {
    lx_set_integer(L, "retried", (lua_Integer)r->misses.retried);
    describe_dropped(L, &r->misses);
  }
}

/* Copies the figures of the first trace, in the list on top, to the recording's
   table below the list. Most recordings have one trace; of several the first is
   that of the whole program. */
static void describe_whole (lua_State *L, const tg_Recording *r) {
  static const char *const same[] = {
    "duration_ms", "tracing_ms", "waited_ms", "events", "threads", "lost",
    "memory", "windows"
  };
  tg_assert(lua_istable(L, -1) && lua_istable(L, -2) && r->count > 0);
  lua_rawgeti(L, -1, 1);
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    lua_getfield(L, -1, same[i]);
    lua_setfield(L, -4, same[i]);
  }
  if (r->traces[0].options.sample > 0) {
    push_samples(L, r);
    lua_setfield(L, -4, "samples");
  }
  lua_getfield(L, -1, "events");
  lua_Number events = lua_tonumber(L, -1);
  lua_pop(L, 2);
  if (events > 0) {
    lua_pushnumber(L, (double)(r->event_bytes - r->saved_bytes) / events);
    lua_setfield(L, -3, "bytes_per_event");
  }
}

/* Damage inside the events is found by reading them: the Trace of a trace that
   was read knows of it. Any Trace will do, since all are of one file. */
static void note_damage (lua_State *L, tg_Recording *r, int traces) {
  for (uint32_t i = 1; i <= r->count && !r->damaged; i++) {
    lua_rawgeti(L, traces, i);
    const tg_Trace *t = lua_touserdata(L, -1);
    tg_assert(t != NULL);
    r->damaged = t->recorded.damage != 0;
    if (r->damaged)
      snprintf(r->reason, sizeof r->reason, "no event at byte %" PRIu64,
               t->recorded.damage);
    lua_pop(L, 1);
  }
}

/* 'damaged' wins over what the header says, so damage is looked for first. */
static void describe_state (lua_State *L, tg_Recording *r, int traces) {
  note_damage(L, r, traces);
  lx_set_string(L, "state", state_name(r));
  if (r->reason[0] != '\0')
    lx_set_string(L, "reason", r->reason);
}

/* The bytes that each kind of content takes in the file, and options that would
   save some. Nothing of a file that cannot be read. */
static void describe_room (lua_State *L, const tg_Recording *r) {
  tg_Contents c;
  tg_Smaller list[TG_SMALLER_MAX];
  if (r->event_bytes == 0 || !tg_contents_measure(r, &c))
    return;
  lua_createtable(L, 0, TG_NCONTENTS + 2);
  for (int i = 0; i < TG_NCONTENTS; i++)
    lx_set_integer(L, tg_contents_name(i), (lua_Integer)c.bytes[i]);
  lua_pushboolean(L, c.sampled);
  lua_setfield(L, -2, "sampled");
  int n = tg_contents_smaller(&c, list);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_createtable(L, 0, 2);
    lx_set_string(L, "options", list[i].options);
    lx_set_integer(L, "bytes", (lua_Integer)list[i].bytes);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "smaller");
  tg_Words words;
  tg_contents_words(&c, &words);
  lx_set_string(L, "words", words.text);
  lua_setfield(L, -2, "room");
}

/* How the ticks of samples came; nothing, if there were none. */
static void describe_ticks (lua_State *L, const tg_Ticking *t) {
  if (t->period_ns == 0)
    return;
  lua_createtable(L, 0, 5);
  lx_set_integer(L, "seen", (lua_Integer)t->seen);
  lx_set_integer(L, "blocked", (lua_Integer)t->blocked);
  lx_set_integer(L, "waiting", (lua_Integer)t->waiting);
  if (t->timer_ns > 0) {
    lua_pushnumber(L, (lua_Number)t->timer_ns / 1e6);
    lua_setfield(L, -2, "timer_ms");
  }
  tg_tickingnotes_push(L, t);
  lua_setfield(L, -2, "notes");
  lua_setfield(L, -2, "ticks");
}

/* The state is described twice: at once, for a brief answer, and again when all
   packets have been read, which may have found damage. */
void tg_recordinginfo_push (lua_State *L, tg_Recording *r, const char *path,
                            int traces, bool brief, int progress) {
  lua_createtable(L, 0, 20);
  lx_set_string(L, "path", path);
  describe_program(L, r);
  describe_state(L, r, traces);
  lua_pushboolean(L, r->header.scrubbed == 1);
  lua_setfield(L, -2, "scrubbed");
  describe_ticks(L, &r->stream->ticking);
  lx_set_integer(L, "functions", atomic_load(&r->stream->functions->count));
  lx_set_integer(L, "bytes", (lua_Integer)r->event_bytes);
  lx_set_integer(L, "saved_bytes", (lua_Integer)r->saved_bytes);
  lx_set_integer(L, "file_bytes", (lua_Integer)r->file_bytes);
  if (brief)
    return;
  describe_room(L, r);
  describe_traces(L, r, traces, progress);
  if (r->count > 0)
    describe_whole(L, r);
  lua_setfield(L, -2, "traces");
  describe_state(L, r, traces);     /* all has been read: now it is known */
}
