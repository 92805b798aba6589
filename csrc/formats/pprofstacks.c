/*
** pprofstacks.c - see pprofstacks.h. Called by pprof.c, on the thread that
** writes.
**
** Between two packets all belongs to the innermost frame that is open: time,
** and what was allocated. A tick comes after the packets of the frames that its
** sample opens and closes, so what it stands for belongs to the innermost one
** then (ticks.h). Beside calls the time in calls is divided by ticks in the end
** (profile/bytick.h).
*/
#include "formats/pprofstacks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/ticks.h"
#include "profile/linememory.h"
#include "stream/eventreader.h"
#include "stream/marks.h"

static bool fail (tg_PprofStacks *s) {
  if (s->x->status == TG_OK)
    s->x->status = TG_ERR_MEMORY;
  return false;
}

/* ---- nodes ---- */

/* The root of the packet's coroutine; 0 without memory. What a coroutine begins
   with is told when it is entered first. */
static uint32_t root_of (tg_PprofStacks *s, const tg_Packet *p) {
  if (p->thread == TG_EXPORT_MAIN)
    return tg_calltree_child(&s->tree, 0, TG_PPROF_MAIN);
  tg_FunctionId body = p->body != 0 ? p->body : p->function;
  uint32_t label = tg_funclabels_of(&s->labels, body);
  return label < TG_PPROF_MAIN - TG_PPROF_BODIES
         ? tg_calltree_child(&s->tree, 0, TG_PPROF_BODIES + label) : 0;
}

static uint64_t place_of (tg_ThreadId thread, uint32_t level) {
  return (uint64_t)thread << 32 | level;
}

/* Where a frame stood that goes on after a yield: its line is not told again.
   0: it is new here. */
static uint32_t add_yielded (tg_PprofStacks *s, tg_ThreadId thread,
                             uint32_t level) {
  uint32_t node = tg_intmap_find(&s->yielded, place_of(thread, level));
  if (node == TG_INTMAP_NONE)
    return 0;
  tg_intmap_drop(&s->yielded, place_of(thread, level));
  return node;
}

/* The node that the same frame has one cycle before, if the stack that ends
   with 'row' above 'parent' ends with some part twice; 0 if it does not. */
static uint32_t repeated (const tg_PprofStacks *s, uint32_t parent,
                          uint32_t row) {
  uint32_t nodes[2 * TG_PPROF_CYCLE], rows[2 * TG_PPROF_CYCLE];
  rows[0] = row;
  for (uint32_t i = 1, node = parent; i < 2 * TG_PPROF_CYCLE; i++) {
    nodes[i] = node;
    rows[i] = s->tree.nodes[node].row;
    node = s->tree.nodes[node].parent;
  }
  for (uint32_t n = 1; n <= TG_PPROF_CYCLE; n++) {
    if (memcmp(rows, rows + n, n * sizeof *rows) == 0)
      return nodes[n];
  }
  return 0;
}

/* The node of a callee; 0 without memory. */
static uint32_t child_of (tg_PprofStacks *s, uint32_t parent, uint32_t row) {
  uint32_t depth = parent < s->cnodes ? s->nodes[parent].depth : 0;
  uint32_t again = depth < TG_PPROF_FOLDS ? 0 : repeated(s, parent, row);
  bool deep = again == 0 && depth == TG_PPROF_MOST;
  if (deep)
    parent = s->tree.nodes[parent].parent;
  uint32_t node = again != 0 ? again : tg_calltree_child(&s->tree, parent, row);
  if (node == 0 || !tg_grow_zeroed(&s->nodes, &s->cnodes, node + 1,
                                   sizeof *s->nodes))
    return 0;
  if (again == 0)
    s->nodes[node].depth = deep ? depth : depth + 1;
  s->nodes[node].folded |= deep || again != 0;
  return node;
}

/* The node of a function that was called from that line; 0 without memory. */
static uint32_t called (tg_PprofStacks *s, uint32_t parent, uint32_t label,
                        uint32_t line) {
  if (parent == 0 || label == TG_INTMAP_NONE)
    return 0;
  uint32_t row = tg_spots_number(&s->callees, label, line);
  return row < TG_PPROF_BODIES ? child_of(s, parent, row) : 0;
}

/* The line of 'caller' that calls; 0 if the packet tells that of another
   function, which a filter hides. */
static uint32_t line_of (const tg_PprofStacks *s, const tg_Packet *p,
                         const tg_PprofOpen *caller) {
  if (caller == NULL || p->caller == 0)
    return 0;
  uint32_t label = tg_funclabels_known(&s->labels, p->caller);
  return label == caller->label ? p->line : 0;
}

/* The node of a frame that is entered above 'caller', NULL if it is the first
   of its coroutine; 0 without memory. */
static uint32_t node_of (tg_PprofStacks *s, const tg_Packet *p,
                         const tg_PprofOpen *caller, uint32_t level) {
  uint32_t node = p->resumed ? add_yielded(s, p->thread, level) : 0;
  if (node != 0)
    return node;
  uint32_t parent = caller != NULL ? caller->node : root_of(s, p);
  uint32_t label = tg_funclabels_of(&s->labels, p->function);
  node = called(s, parent, label, line_of(s, p, caller));
  if (node != 0)
    tg_bytick_enter(&s->tree, node, p,
                    tg_funclabels_function(&s->labels, label));
  return node;
}

/* ---- packets ---- */

static bool enter (tg_PprofStacks *s, const tg_Packet *p) {
  uint32_t n;
  const tg_ExportFrame *frames = tg_export_frames(s->x, &n);
  tg_assert(n == s->nopen + 1);
  bool first = n < 2 || frames[n - 2].thread != p->thread;
  const tg_PprofOpen *caller = first ? NULL : &s->open[s->nopen - 1];
  uint32_t level = first ? 0 : caller->level + 1;
  uint32_t node = node_of(s, p, caller, level);
  if (node == 0
      || !tg_grow(&s->open, &s->copen, s->nopen + 1, sizeof *s->open))
    return fail(s);
  s->open[s->nopen++] = (tg_PprofOpen){
    .node = node, .level = level,
    .label = tg_funclabels_of(&s->labels, p->function)
  };
  s->nodes[node].values[TG_PPROF_CALLS] += !p->resumed && !p->sampled;
  return true;
}

static bool leave (tg_PprofStacks *s, const tg_Packet *p) {
  tg_assert(s->nopen > 0);
  tg_PprofOpen o = s->open[--s->nopen];
  return p->why != TG_WHY_YIELD
         || tg_intmap_set(&s->yielded, place_of(p->thread, o.level), o.node)
         || fail(s);
}

static uint32_t innermost (const tg_PprofStacks *s) {
  return s->nopen > 0 ? s->open[s->nopen - 1].node : 0;
}

static void add_time (tg_PprofStacks *s, const tg_Packet *p) {
  tg_bytick_pass(&s->bytick, &s->tree, innermost(s), p->time_ns, p->spent_ns);
}

/* Samples show a frame once for all calls that follow each other: which of them
   is open now, the lines of its callers tell. A called frame has its own. */
static bool place_frames (tg_PprofStacks *s, const tg_Packet *tick) {
  uint32_t i = s->nopen, n;
  const tg_ExportFrame *frames = tg_export_frames(s->x, &n);
  while (i > 0 && frames[i - 1].sampled)
    i--;
  for (; i < s->nopen; i++) {
    tg_PprofOpen *o = &s->open[i];
    if (o->level == 0)
      continue;                 /* below its coroutine's root */
    o->node = called(s, o[-1].node, o->label, tg_linetimes_line(tick, i - 1));
    if (o->node == 0)
      return false;
    s->tree.nodes[o->node].pause =
        tg_function_is_pause(tg_funclabels_function(&s->labels, o->label));
  }
  return true;
}

/* The node that a tick has met: what ran in no frame that is open is below who
   is. 0 without memory. */
static uint32_t met_node (tg_PprofStacks *s, const tg_Packet *tick) {
  uint32_t node = innermost(s), line = 0;
  if (tick->function == 0)
    return node;
  if (node == 0)
    node = tg_calltree_child(&s->tree, 0, TG_PPROF_MAIN);
  else
    line = tg_linetimes_line(tick, s->nopen - 1);
  return called(s, node, tg_funclabels_of(&s->labels, tick->function), line);
}

/* Of what ran in no frame the line is not known. */
static bool add_line (tg_PprofStacks *s, uint32_t node, const tg_Packet *tick,
                      uint64_t periods) {
  uint32_t line = tick->function != 0
                  ? 0 : tg_linetimes_line(tick, s->nopen - 1);
  tg_LineTime *at = tg_linetimes_at(&s->lines, node, line);
  if (at == NULL)
    return false;
  tg_ticked_add(&at->ticked, tick->hits);
  at->periods += periods;
  return true;
}

static bool add_tick (tg_PprofStacks *s, const tg_Packet *p) {
  if (s->nopen == 0 && p->function == 0) {
    tg_bytick_tick(&s->bytick, &s->tree, 0, p);
    return true;
  }
  uint64_t periods = tg_ticks_count(s->x, p->hits);
  uint32_t node = place_frames(s, p) ? met_node(s, p) : 0;
  if (node == 0 || !add_line(s, node, p, periods))
    return fail(s);
  tg_bytick_tick(&s->bytick, &s->tree, node, p);
  s->nodes[node].values[TG_PPROF_SAMPLES] += periods;
  s->nodes[node].values[TG_PPROF_CPU] += p->hits;
  return true;
}

/* False without memory. */
static bool add_allocations (tg_PprofStacks *s, const tg_Packet *p,
                             uint32_t node, uint32_t label) {
  tg_Allocations a = tg_event_allocations(p->values);
  uint64_t *values = s->nodes[node].values;
  values[TG_PPROF_OBJECTS] += a.count;
  values[TG_PPROF_SPACE] += a.allocated;
  values[TG_PPROF_FREED] += a.freed;
  return tg_linememory_add(&s->lines, node, &s->labels, label, p);
}

/* The function of a node; of a root TG_INTMAP_NONE, which is none's. */
static uint32_t label_of (const tg_PprofStacks *s, uint32_t node) {
  uint32_t row = s->tree.nodes[node].row;
  return row < TG_PPROF_BODIES ? s->callees.list[row].of : TG_INTMAP_NONE;
}

/* What belongs to no traced frame is left out. False without memory. */
static bool add_mark (tg_PprofStacks *s, const tg_Packet *p) {
  if (!tg_mark_holds(p->mark))
    return true;
  if (s->nopen == 0)
    return tg_live_add(&s->live, p, TG_LIVE_NOBODY) || fail(s);
  uint32_t node = tg_bytick_allocating(&s->tree, innermost(s));
  uint32_t label = label_of(s, node);
  uint32_t maker = tg_spots_number(
    &s->makers, node, tg_linememory_maker(&s->labels, label, p));
  bool ok = maker != TG_INTMAP_NONE && tg_live_add(&s->live, p, maker)
            && (p->mark != TG_MARK_ALLOCATIONS
                || add_allocations(s, p, node, label));
  return ok || fail(s);
}

static bool add_packet (tg_PprofStacks *s, const tg_Packet *p) {
  add_time(s, p);
  if (p->why == TG_WHY_ENTER)
    return enter(s, p);
  if (p->why == TG_WHY_TICK)
    return add_tick(s, p);
  return p->why == TG_WHY_MARK ? add_mark(s, p) : leave(s, p);
}

bool tg_pprofstacks_tells (const tg_PprofStacks *s, tg_PprofValue v) {
  const tg_Export *x = s->x;
  switch (v) {
    case TG_PPROF_CALLS: case TG_PPROF_TIME: return !tg_ticks_only(x);
    case TG_PPROF_SAMPLES: case TG_PPROF_CPU: return tg_ticks_any(x);
    case TG_PPROF_OBJECTS: case TG_PPROF_SPACE: case TG_PPROF_FREED:
      return (x->selection->types & TG_TYPE_ALLOCATIONS) != 0;
    case TG_PPROF_LIVE: case TG_PPROF_LIVE_SPACE: return s->live.told;
    case TG_PPROF_VALUES: default: tg_unreachable();
  }
}

/* What nobody tells of is not asked for: it would be read for nothing. */
static void ask (tg_PprofStacks *s) {
  tg_Export *x = s->x;
  s->bytick.spots = &s->callees;
  s->bytick.ticks = tg_bytick_kind(x->selection->sample,
                                   x->selection->with_calls);
  if (tg_pprofstacks_tells(s, TG_PPROF_SAMPLES))
    tg_ticks_ask(x);
  if (tg_pprofstacks_tells(s, TG_PPROF_OBJECTS))
    tg_export_hold(x);
}

/* Time is divided among the nodes, and becomes one of their values; also that
   after the last frame. */
static bool settle (tg_PprofStacks *s) {
  if (s->x->end_ns > s->bytick.now_ns)
    tg_bytick_pass(&s->bytick, &s->tree, 0, s->x->end_ns, s->bytick.spent_ns);
  uint32_t label = tg_funclabels_of(&s->labels, TG_FUNCTION_IDLE);
  uint32_t idle = label == TG_INTMAP_NONE
                  ? label : tg_spots_number(&s->callees, label, 0);
  if (idle == TG_INTMAP_NONE
      || !tg_bytick_settle(&s->bytick, &s->tree, idle)
      || !tg_grow_zeroed(&s->nodes, &s->cnodes, s->tree.count,
                         sizeof *s->nodes))
    return fail(s);
  for (uint32_t i = 1; i < s->tree.count; i++)
    s->nodes[i].values[TG_PPROF_TIME] = s->tree.nodes[i].tally.self_ns;
  for (uint32_t i = 0; i < s->makers.count; i++) {
    tg_Holding live = tg_live_of(&s->live, i).now;
    uint64_t *values = s->nodes[s->makers.list[i].of].values;
    values[TG_PPROF_LIVE] += live.blocks;
    values[TG_PPROF_LIVE_SPACE] += live.bytes;
  }
  return (tg_linememory_hold(&s->lines, &s->makers, &s->live, NULL)
          && tg_linetimes_divide(&s->lines, &s->tree, 0)
          && tg_linetimes_chain(&s->lines, s->tree.count)) || fail(s);
}

bool tg_pprofstacks_read (tg_PprofStacks *s, tg_Export *x) {
  *s = (tg_PprofStacks){.x = x};
  tg_funclabels_init(&s->labels, x->stream->functions);
  if (!tg_calltree_init(&s->tree))
    return fail(s);
  ask(s);
  tg_Packet p;
  bool more = tg_export_next(x, &p);
  for (; more; more = tg_export_next(x, &p)) {
    if (!add_packet(s, &p))
      return false;
  }
  return x->status == TG_OK && settle(s);
}

void tg_pprofstacks_free (tg_PprofStacks *s) {
  tg_free(s->nodes);
  tg_live_free(&s->live);
  tg_spots_free(&s->makers);
  tg_free(s->open);
  tg_intmap_free(&s->yielded);
  tg_spots_free(&s->callees);
  tg_linetimes_free(&s->lines);
  tg_calltree_free(&s->tree);
  tg_funclabels_free(&s->labels);
}
