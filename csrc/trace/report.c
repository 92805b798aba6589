/*
** report.c - trace:report and trace:tree: a profile (profile.h) of a trace as
** Lua tables. On the thread that runs the state; wrong options raise, events
** that cannot be read are nil, message, errno.
**
** The adding up is done in C, once over all packets, and only what comes of it
** becomes tables: a trace has millions of packets and some hundred functions.
*/
#include <errno.h>
#include <math.h>
#include <string.h>

#include "trace/report.h"
#include "base/alloc.h"
#include "binding/luasink.h"
#include "packet/names.h"
#include "profile/outcome.h"
#include "profile/profilelines.h"
#include "session/traceinfo.h"
#include "trace/readtrace.h"

/* A profile, and the memory for writing it. A userdata, so that an error frees
   all of it. */
typedef struct Report {
  tg_Profile profile;   /* owns */
  tg_RowLines lines;    /* owns; if they are asked for */
  uint64_t samples;
  uint64_t free;        /* of these, taken while the program had no hook */
  uint64_t untraced_ns; /* in which calls were not seen */
  void *list;           /* owns; rows or nodes in their order */
  tg_Buf room;          /* owns */
} Report;

/* Freed here and not where the report is done: each table that it is pushed
   into may raise. */
static int report__gc (lua_State *L) {
  Report *r = lua_touserdata(L, 1);
  tg_profile_free(&r->profile);
  tg_rowlines_free(&r->lines);
  tg_free(r->list);
  tg_buf_free(&r->room);
  memset(r, 0, sizeof *r);
  return 0;
}

#define MOVES 128

/* The next packet, or many at once where they are moves; false if there is
   none. */
static bool add_next (Report *r, tg_ReadTrace *from, bool moves) {
  tg_FrameMove list[MOVES];
  tg_Packet packet;
  uint32_t n = moves ? tg_minduration_moves(&from->minduration, from->stop,
                                            list, MOVES) : 0;
  if (n > 0) {
    tg_profile_add_moves(&r->profile, list, n);
    return true;
  }
  if (!tg_minduration_next(&from->minduration, from->stop, &packet))
    return false;
  tg_profile_add(&r->profile, &packet);
  r->free += packet.why == TG_WHY_TICK && packet.untraced;
  return true;
}

/* Calls the function at 'progress' with the part read so far; raises its
   errors. The profile must hear of coroutines that are gone, or it would keep
   a stack of each. */
static void add_packets (lua_State *L, Report *r, const tg_Trace *t,
                         tg_ReadTrace *from, int progress) {
  tg_Pace pace;
  uint64_t start_ns, end_ns;
  bool moves = tg_profile_takes_moves(&r->profile);
  tg_pace_begin(&pace, L, from, progress);
  tg_minduration_watch(&from->minduration, tg_profile_gone, &r->profile);
  while (!pace.raised && add_next(r, from, moves))
    continue;
  if (pace.raised)
    lua_error(L);
  r->samples = tg_reader_samples(from->reader);
  r->untraced_ns = tg_reader_untraced(from->reader);
  tg_readtrace_span(from, t, &start_ns, &end_ns);
  tg_profile_end(&r->profile, start_ns, end_ns);
}

/* The option 'levels' of the filter at 'i'; UINT32_MAX, which is all levels,
   if it is missing or larger. */
static uint32_t read_levels (lua_State *L, int i) {
  int ok = 1;
  if (!lua_istable(L, i))
    return UINT32_MAX;
  lua_getfield(L, i, "levels");
  lua_Integer n = lua_isnil(L, -1) ? UINT32_MAX : lua_tointegerx(L, -1, &ok);
  if (!ok || n < 1)
    luaL_error(L, "option 'levels': a positive integer expected, got %s",
               luaL_tolstring(L, -1, NULL));
  lua_pop(L, 1);
  return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* The option 'lines' of the filter at 'i'. */
static bool read_lines (lua_State *L, int i) {
  if (!lua_istable(L, i))
    return false;
  lua_getfield(L, i, "lines");
  if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
    luaL_error(L, "option 'lines': a boolean expected, got %s",
               luaL_typename(L, -1));
  bool lines = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return lines;
}

/* Samples tell self times by their ticks, and lines; so does what was
   allocated. False without memory. */
static bool ask_ticks (Report *r, const tg_Options *o, tg_ReadTrace *from,
                       tg_Lined lined) {
  tg_Ticks ticks = tg_bytick_kind(o->sample, o->with_calls);
  if (!tg_profile_tick(&r->profile, ticks))
    return false;
  if (ticks != TG_TICKS_NONE)
    tg_reader_tick(from->reader);
  bool allocated = (o->types & TG_TYPE_ALLOCATIONS) != 0;
  if (ticks != TG_TICKS_NONE || allocated)
    tg_profile_lines(&r->profile, lined);
  return true;
}

/* What was allocated, if that is known. */
static void ask_usage (Report *r, const tg_Options *o, tg_ReadTrace *from) {
  r->profile.usage.on = (o->types & TG_TYPE_ALLOCATIONS) != 0;
  r->profile.usage.lined = r->profile.lined != TG_LINED_NOT;
  if (r->profile.usage.on)
    tg_reader_hold(from->reader);
}

/* What is alive belongs to paths of calls, and so do rows' totals of it. */
static bool needs_tree (const tg_Options *o) {
  return (o->types & TG_TYPE_ALLOCATIONS) != 0;
}

/* Pushes a reading, the option 'progress' and the report of all packets; NULL
   with errno if they cannot be read. It asks for no values of calls, so none
   is decoded. A report has all options of a tree but 'levels', the first of
   the list. */
static Report *make_report (lua_State *L, bool tree) {
  static const char *const tree_keys[] = {"levels", "lines", "progress", NULL};
  static const char *const *const report_keys = tree_keys + 1;
  lua_settop(L, 2);
  const tg_Trace *t = tg_readtrace_check(L);
  tg_ReadTrace *from =
      tg_readtrace_new(L, 2, tree ? tree_keys : report_keys,
                       TG_TYPE_ALLOCATIONS);
  tg_readtrace_times(from, TG_TIMES_TRUE);
  uint32_t levels = read_levels(L, 2);
  tg_Lined lined = !read_lines(L, 2) ? TG_LINED_NOT
                   : tree ? TG_LINED_TREE : TG_LINED_ROWS;
  lua_pushnil(L);
  if (lua_istable(L, 2) && lua_getfield(L, 2, "progress") != LUA_TNIL)
    lua_replace(L, 4);
  lua_settop(L, 4);
  Report *r = lx_owner(L, sizeof *r, 0, "tracegrip.report", report__gc);
  bool made = tg_profile_init(&r->profile, t->stream->functions,
                              tree || needs_tree(&t->options))
              && ask_ticks(r, &t->options, from, lined);
  r->profile.levels = levels;
  ask_usage(r, &t->options, from);
  if (made)
    add_packets(L, r, t, from, 4);
  if (made && r->profile.lined == TG_LINED_ROWS)
    made = tg_rowlines_make(&r->lines, &r->profile);
  errno = tg_readtrace_error(from);
  if (!made || r->profile.status != TG_OK)
    errno = ENOMEM;
  return errno == 0 ? r : NULL;
}

/* Room for pointers to all rows or nodes. Pointers, so that rows and nodes
   need not be moved to be sorted: a node's number is what its children name it
   by. */
static void *new_list (lua_State *L, Report *r, size_t count) {
  tg_assert(r->list == NULL);
  r->list = tg_calloc(count > 0 ? count : 1, sizeof(void *));
  if (r->list == NULL)
    luaL_error(L, "not enough memory");
  return r->list;
}

/* ---- fields ---- */

/* name, url and line as packets have them, but for the name of C functions
   that have none: who reads both can compare them. */
static void put_function (Report *r, tg_Sink *out, uint32_t row) {
  const tg_Function *f = tg_profile_function(&r->profile, row);
  tg_sink_key(out, "name");
  tg_names_title(out, &r->room, f);
  if (f->is_c || f->url != NULL)
    tg_names_place(out, &r->room, f);
}

/* What a row of the report and a node of the tree have in common. */
static void put_tally (tg_Sink *out, const tg_Tally *t) {
  tg_sink_count(out, "calls", t->calls);
  tg_sink_ms(out, "self_ms", t->self_ns);
  tg_sink_ms(out, "self_error_ms", (uint64_t)(sqrt(t->variance) + 0.5));
  tg_sink_ms(out, "total_ms", t->total_ns);
  tg_sink_count(out, "throws", t->throws);
  tg_sink_count(out, "yields", t->yields);
}

/* What is alive at the end, and when the heap was at its highest. */
static void put_live (tg_Sink *out, const tg_UsageTally *t) {
  tg_sink_count(out, "self_live_bytes", t->live.bytes);
  tg_sink_count(out, "total_live_bytes", t->live_total.bytes);
  tg_sink_count(out, "self_live_blocks", t->live.blocks);
  tg_sink_count(out, "total_live_blocks", t->live_total.blocks);
  tg_sink_count(out, "self_peak_live_bytes", t->high.bytes);
  tg_sink_count(out, "total_peak_live_bytes", t->high_total.bytes);
  tg_sink_count(out, "self_peak_live_blocks", t->high.blocks);
  tg_sink_count(out, "total_peak_live_blocks", t->high_total.blocks);
}

/* The same of what was allocated; a node of a tree of lines has no 'peak'.
   Older recordings do not know what is alive. */
static void put_usage (const Report *r, tg_Sink *out, const tg_UsageTally *t,
                       bool peak) {
  tg_sink_count(out, "self_bytes", t->self.allocated);
  tg_sink_count(out, "total_bytes", t->total.allocated);
  tg_sink_count(out, "self_allocations", t->self.count);
  tg_sink_count(out, "total_allocations", t->total.count);
  tg_sink_count(out, "self_freed_bytes", t->self.freed);
  tg_sink_count(out, "total_freed_bytes", t->total.freed);
  if (peak)
    tg_sink_count(out, "peak_bytes", t->peak);
  if (r->profile.usage.live.told)
    put_live(out, t);
}

/* Of the whole, beside its sums: 'heap_bytes' has what was there before, too.
   */
static void put_whole_usage (Report *r, tg_Sink *out) {
  const tg_Usage *u = &r->profile.usage;
  tg_UsageTally whole = tg_usage_node(u, 0);
  put_usage(r, out, &whole, true);
  if (u->known)
    tg_sink_count(out, "heap_bytes", u->heap);
  if (u->live.every > 0)
    tg_sink_count(out, "every_bytes", u->live.every);
  if (u->live.partial) {
    tg_sink_key(out, "live_partial");
    out->boolean(out, true);
  }
}

/* ---- report ---- */

static void put_line_live (tg_Sink *out, const tg_RowLine *line) {
  tg_sink_count(out, "self_live_bytes", line->live.bytes);
  tg_sink_count(out, "self_live_blocks", line->live.blocks);
  tg_sink_count(out, "self_peak_live_bytes", line->high.bytes);
  tg_sink_count(out, "self_peak_live_blocks", line->high.blocks);
}

/* The lines that ran, and those that have called. Of a C function there are
   none, nor of one that no sample has met. */
static void put_lines (Report *r, tg_Sink *out, uint32_t row) {
  uint32_t n;
  const tg_RowLine *list = tg_rowlines_of(&r->lines, row, &n);
  const tg_Function *f = tg_profile_function(&r->profile, row);
  if (n == 0)
    return;
  if (f->last_line > 0)         /* of a main chunk it is not known */
    tg_sink_count(out, "last_line", f->last_line);
  tg_sink_key(out, "lines");
  out->array(out);
  for (uint32_t i = 0; i < n; i++) {
    out->object(out);
    tg_sink_count(out, "line", list[i].line);
    tg_sink_ms(out, "self_ms", list[i].self_ns);
    tg_sink_ms(out, "self_error_ms",
               (uint64_t)(sqrt(list[i].variance) + 0.5));
    tg_sink_count(out, "samples", list[i].samples);
    if (r->profile.usage.on) {
      tg_sink_count(out, "self_bytes", list[i].bytes);
      tg_sink_count(out, "self_allocations", list[i].allocations);
    }
    if (r->profile.usage.live.told)
      put_line_live(out, &list[i]);
    if (list[i].calls > 0)
      tg_sink_count(out, "calls", list[i].calls);
    out->close(out);
  }
  out->close(out);
}

/* A function may have been left without having been called while the trace
   ran: then there is no mean. */
static void put_row (Report *r, tg_Sink *out, const tg_Row *row) {
  uint64_t calls = row->tally.calls;
  double mean = calls > 0 ? (double)row->sum_ns / (double)calls : 0;
  out->object(out);
  put_function(r, out, (uint32_t)(row - r->profile.rows));
  put_tally(out, &row->tally);
  tg_sink_ms(out, "min_ms", row->min_ns);
  tg_sink_key(out, "mean_ms");
  out->number(out, mean / 1e6);
  tg_sink_ms(out, "max_ms", row->max_ns);
  if (r->profile.usage.on) {
    tg_UsageTally u = tg_usage_row(&r->profile.usage,
                                   (uint32_t)(row - r->profile.rows));
    put_usage(r, out, &u, true);
  }
  put_lines(r, out, (uint32_t)(row - r->profile.rows));
  out->close(out);
}

/* Waits in calls are no function's time; the tree has them where they were. */
static bool is_idle (const tg_Profile *p, const tg_Row *row) {
  const tg_Function *f = tg_profile_function(p, (uint32_t)(row - p->rows));
  return f == tg_functions_shown(p->labels.functions, TG_FUNCTION_IDLE);
}

/* One number: how many there are of each kind is in trace.lost. */
static uint64_t count_lost (const tg_Trace *t) {
  uint64_t lost[TG_NLOSSES], sum = 0;
  tg_traceinfo_losses(t, lost);
  for (int i = 0; i < TG_NLOSSES; i++)
    sum += lost[i];
  return sum;
}

/* 'idle_ms' is no part of any row's total: what ran then is not known, or
   others had the processor. */
static void put_samples (const Report *r, tg_Sink *out) {
  tg_sink_count(out, "samples", r->samples);
  tg_sink_ms(out, "idle_ms", r->profile.idle_ns);
}

/* Calls that were made meanwhile are in no number. */
static void put_windows (const Report *r, const tg_Options *o, tg_Sink *out) {
  tg_sink_key(out, "windows");
  out->object(out);
  tg_sink_count(out, "percent", o->windows);
  tg_sink_ms(out, "calls_unseen_ms", r->untraced_ns);
  tg_sink_count(out, "samples", r->free);
  out->close(out);
}

/* Rows are sorted by the profile (profile.h) and not in Lua: the command line
   and programs get them in the same order. */
int trace_report (lua_State *L) {
  Report *r = make_report(L, false);
  if (r == NULL)
    return luaL_fileresult(L, 0, NULL);
  const tg_Profile *p = &r->profile;
  const tg_Row **rows = new_list(L, r, p->nrows);
  tg_LuaSink sink;
  tg_Sink *out = &sink.sink;
  tg_outcome_sort_rows(p, rows);
  tg_luasink_init(&sink, L);
  out->object(out);
  tg_sink_ms(out, "duration_ms", p->duration_ns);
  tg_sink_count(out, "events", p->events);
  const tg_Trace *t = luaL_checkudata(L, 1, TG_TRACE);
  tg_sink_count(out, "lost", count_lost(t));
  if (t->options.sample > 0)
    put_samples(r, out);
  if (t->options.windows > 0)
    put_windows(r, &t->options, out);
  if (p->usage.on) {
    tg_sink_key(out, "memory");
    out->object(out);
    put_whole_usage(r, out);
    out->close(out);
  }
  tg_sink_key(out, "functions");
  out->array(out);
  for (uint32_t i = 0; i < p->nrows; i++) {
    if (!is_idle(p, rows[i]))
      put_row(r, out, rows[i]);
  }
  out->close(out);
  out->close(out);
  return 1;
}

/* ---- tree ---- */

/* Pushes a node without its children. Only the root has a name that is given,
   the trace's, and tells how deep the tree is. */
static void push_node (lua_State *L, Report *r, uint32_t number,
                       const char *name) {
  const tg_Node *n = &r->profile.tree.nodes[number];
  tg_LuaSink sink;
  tg_Sink *out = &sink.sink;
  tg_luasink_init(&sink, L);
  out->object(out);
  tg_Spot spot = tg_profilelines_spot(&r->profile, n);
  if (name == NULL) {
    put_function(r, out, spot.of);
    if (spot.line > 0)
      tg_sink_count(out, "at", spot.line);
  }
  else {
    tg_sink_key(out, "name");
    tg_sink_string(out, &r->room, name);
    tg_sink_count(out, "levels", r->profile.deepest);
  }
  put_tally(out, &n->tally);
  if (r->profile.usage.on && number == 0)
    put_whole_usage(r, out);
  else if (r->profile.usage.on) {
    tg_UsageTally u = tg_usage_node(&r->profile.usage, number);
    put_usage(r, out, &u, r->profile.lined != TG_LINED_TREE);
  }
  tg_sink_key(out, "children");
  out->array(out);
  out->close(out);
  out->close(out);
}

/* Pushes a list of all nodes, the root first, each without its children: deep
   recursion makes a deep tree, so none is built by recursion. The list stays
   on the stack for 'adopt'. */
static void push_nodes (lua_State *L, Report *r, const char *name) {
  const tg_CallTree *t = &r->profile.tree;
  lua_createtable(L, t->count < INT32_MAX ? (int)t->count : 0, 0);
  for (uint32_t i = 0; i < t->count; i++) {
    push_node(L, r, i, i == 0 ? name : NULL);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* The node is the next child of its parent; the list is on top. The nodes come
   sorted, so children stand in their parent's list in that order. */
static void adopt (lua_State *L, const tg_CallTree *t, const tg_Node *n) {
  tg_assert(n->parent < t->count && n != t->nodes);
  lua_rawgeti(L, -1, (lua_Integer)n->parent + 1);
  lua_getfield(L, -1, "children");
  lua_rawgeti(L, -3, (lua_Integer)(n - t->nodes) + 1);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 2);
}

/* The nodes are first pushed and then adopted by their parents; the root is
   what is left. Its children hold all others. */
int trace_tree (lua_State *L) {
  Report *r = make_report(L, true);
  if (r == NULL)
    return luaL_fileresult(L, 0, NULL);
  const tg_CallTree *t = &r->profile.tree;
  const tg_Trace *trace = luaL_checkudata(L, 1, TG_TRACE);
  const tg_Node **nodes = new_list(L, r, t->count - 1);
  tg_outcome_sort_nodes(&r->profile, nodes);
  push_nodes(L, r, trace->name);
  for (uint32_t i = 0; i + 1 < t->count; i++)
    adopt(L, t, nodes[i]);
  lua_rawgeti(L, -1, 1);
  if (trace->options.sample > 0)
    lx_set_integer(L, "samples", (lua_Integer)r->samples);
  return 1;
}
