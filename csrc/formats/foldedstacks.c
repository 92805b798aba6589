/*
** foldedstacks.c - see foldedstacks.h. Called by folded.c, on the thread that
** writes.
*/
#include "formats/foldedstacks.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/ticks.h"
#include "profile/linememory.h"
#include "stream/eventreader.h"
#include "stream/marks.h"

static bool fail (tg_FoldedStacks *s) {
  if (s->x->status == TG_OK)
    s->x->status = TG_ERR_MEMORY;
  return false;
}

static bool grow_open (tg_FoldedStacks *s) {
  return tg_grow(&s->open, &s->copen, s->copen + 1, sizeof *s->open) || fail(s);
}

/* The root of a coroutine that is not known yet, which begins with 'body'; 0
   without memory. */
static uint32_t new_root (tg_FoldedStacks *s, tg_ThreadId thread,
                          tg_FunctionId body) {
  uint32_t label = tg_funclabels_of(&s->labels, body);
  if (label >= TG_FOLDED_MAIN - TG_FOLDED_BODIES)
    return 0;
  uint32_t node = tg_calltree_child(&s->tree, 0, TG_FOLDED_BODIES + label);
  return node != 0 && tg_intmap_set(&s->roots, thread, node) ? node : 0;
}

/* A coroutine keeps its root from its first packet to its end: what it began
   with is not told again after a yield. */
static uint32_t root_of (tg_FoldedStacks *s, const tg_Packet *p) {
  if (p->thread == 1)
    return tg_calltree_child(&s->tree, 0, TG_FOLDED_MAIN);
  uint32_t node = tg_intmap_find(&s->roots, p->thread);
  if (node != TG_INTMAP_NONE)
    return node;
  return new_root(s, p->thread, p->body != 0 ? p->body : p->function);
}

/* The node below a frame that is entered: its caller's, or its coroutine's. 0
   without memory. */
static uint32_t parent_of (tg_FoldedStacks *s, const tg_Packet *p) {
  uint32_t n;
  const tg_ExportFrame *frames = tg_export_frames(s->x, &n);
  if (n > 1 && frames[n - 2].thread == p->thread)
    return s->open[n - 2].node;
  return root_of(s, p);
}

static uint32_t number_of (tg_FoldedStacks *s, uint32_t label, uint32_t line) {
  return s->x->options.lines ? tg_spots_number(&s->spots, label, line) : label;
}

/* The node of a frame that was called from that line; 0 without memory. */
static uint32_t child_of (tg_FoldedStacks *s, uint32_t parent, uint32_t label,
                          uint32_t line) {
  uint32_t row = number_of(s, label, line);
  return row < TG_FOLDED_BODIES ? tg_calltree_child(&s->tree, parent, row) : 0;
}

/* The line from which a frame is called that is entered, if lines are asked for
   and it is its caller's here. */
static uint32_t line_of (const tg_FoldedStacks *s, const tg_Packet *p) {
  uint32_t n;
  const tg_ExportFrame *frames = tg_export_frames(s->x, &n);
  if (!s->x->options.lines || n < 2 || frames[n - 2].thread != p->thread
      || p->caller == 0)
    return 0;
  uint32_t caller = tg_funclabels_known(&s->labels, p->caller);
  return caller == s->open[n - 2].label ? p->line : 0;
}

/* 0 of the tree is no stack: all others are below the roots of coroutines. */
static bool enter (tg_FoldedStacks *s, const tg_Packet *p) {
  uint32_t parent = parent_of(s, p);
  uint32_t label = tg_funclabels_of(&s->labels, p->function);
  if (parent == 0 || label == TG_INTMAP_NONE)
    return fail(s);
  uint32_t node = child_of(s, parent, label, line_of(s, p));
  tg_bytick_enter(&s->tree, node, p,
                  tg_funclabels_function(&s->labels, label));
  if (node == 0 || (s->nopen == s->copen && !grow_open(s)))
    return fail(s);
  s->open[s->nopen++] = (tg_FoldedOpen){node, label};
  return true;
}

/* A coroutine whose outermost frame has gone for good is over: what it began
   with need not be known any more. */
static void forget_root (tg_FoldedStacks *s, const tg_Packet *p) {
  uint32_t n;
  const tg_ExportFrame *frames = tg_export_frames(s->x, &n);
  if (p->why == TG_WHY_YIELD || p->tail
      || (n > 0 && frames[n - 1].thread == p->thread))
    return;
  if (tg_intmap_find(&s->roots, p->thread) != TG_INTMAP_NONE)
    tg_intmap_drop(&s->roots, p->thread);
}

/* Frames that were folded since the last exit were inside of this frame, the
   innermost that is given. */
static void leave (tg_FoldedStacks *s, const tg_Packet *p) {
  tg_assert(s->nopen > 0);
  tg_Node *n = &s->tree.nodes[s->open[--s->nopen].node];
  n->tally.calls += s->x->folded - s->folded;
  s->folded = s->x->folded;
  forget_root(s, p);
}

static bool in_time (const tg_FoldedStacks *s) {
  return s->x->options.weight < TG_WEIGHT_BYTES;
}

static uint32_t innermost (const tg_FoldedStacks *s) {
  return s->nopen > 0 ? s->open[s->nopen - 1].node : 0;
}

/* Samples show a frame once for all calls that follow each other: which of them
   is open now, the lines of its callers tell. A called frame has its own. False
   without memory. */
static bool place_frames (tg_FoldedStacks *s, const tg_Packet *tick) {
  uint32_t i = s->nopen, n;
  const tg_ExportFrame *frames = tg_export_frames(s->x, &n);
  while (i > 0 && frames[i - 1].sampled)
    i--;
  for (i = i > 0 ? i : 1; i < s->nopen; i++) {
    if (frames[i].thread != frames[i - 1].thread || !frames[i].sampled)
      continue;                 /* below its coroutine's root */
    s->open[i].node = child_of(s, s->open[i - 1].node, s->open[i].label,
                               tg_linetimes_line(tick, i - 1));
    if (s->open[i].node == 0)
      return false;
    s->tree.nodes[s->open[i].node].pause = tg_function_is_pause(
      tg_funclabels_function(&s->labels, s->open[i].label));
  }
  return true;
}

/* The node that a tick has met: what ran in no frame that is open is below who
   is. 0: none, or without memory. */
static uint32_t met_node (tg_FoldedStacks *s, const tg_Packet *tick) {
  uint32_t parent = innermost(s), line = 0;
  if (tick->function == 0)
    return parent;
  uint32_t label = tg_funclabels_of(&s->labels, tick->function);
  if (parent == 0)
    parent = tg_calltree_child(&s->tree, 0, TG_FOLDED_MAIN);
  else if (s->x->options.lines)
    line = tg_linetimes_line(tick, s->nopen - 1);
  return label != TG_INTMAP_NONE && parent != 0
         ? child_of(s, parent, label, line) : 0;
}

/* The line that ran; of what ran in no frame it is not known. */
static bool add_line (tg_FoldedStacks *s, uint32_t node,
                      const tg_Packet *tick) {
  uint32_t line = tick->function != 0
                  ? 0 : tg_linetimes_line(tick, s->nopen - 1);
  return !s->x->options.lines
         || tg_linetimes_tick(&s->lines, node, line, tick->hits);
}

/* Where amounts are of memory a tick moves frames, and no more. False without
   memory. */
static bool add_tick (tg_FoldedStacks *s, const tg_Packet *p) {
  if (s->x->options.lines && !place_frames(s, p))
    return fail(s);
  if (!in_time(s))
    return true;
  if (s->nopen == 0 && p->function == 0) {
    tg_bytick_tick(&s->bytick, &s->tree, 0, p);
    return true;
  }
  uint32_t node = met_node(s, p);
  if (node == 0 || !add_line(s, node, p))
    return fail(s);
  tg_bytick_tick(&s->bytick, &s->tree, node, p);
  return true;
}

static bool in_live (const tg_FoldedStacks *s) {
  return s->x->options.weight >= TG_WEIGHT_LIVE;
}

/* The function of a node, if lines of it are asked for; else TG_INTMAP_NONE,
   which is none's. */
static uint32_t label_of (const tg_FoldedStacks *s, uint32_t node) {
  uint32_t row = s->tree.nodes[node].row;
  return s->x->options.lines && row < TG_FOLDED_BODIES
         ? s->spots.list[row].of : TG_INTMAP_NONE;
}

/* False without memory. */
static bool add_live (tg_FoldedStacks *s, const tg_Packet *p, uint32_t node) {
  if (!tg_mark_holds(p->mark))
    return true;
  if (s->nopen == 0)
    return tg_live_add(&s->live, p, TG_LIVE_NOBODY) || fail(s);
  uint32_t line = tg_linememory_maker(&s->labels, label_of(s, node), p);
  uint32_t maker = tg_spots_number(&s->makers, node, line);
  return (maker != TG_INTMAP_NONE && tg_live_add(&s->live, p, maker))
         || fail(s);
}

/* False without memory. */
static bool add_allocations (tg_FoldedStacks *s, const tg_Packet *p) {
  uint32_t node = tg_bytick_allocating(&s->tree, innermost(s));
  if (in_live(s))
    return add_live(s, p, node);
  if (in_time(s) || p->mark != TG_MARK_ALLOCATIONS || s->nopen == 0)
    return true;
  tg_Allocations a = tg_event_allocations(p->values);
  s->tree.nodes[node].tally.self_ns +=
      s->x->options.weight == TG_WEIGHT_BYTES ? a.allocated : a.count;
  return tg_linememory_add(&s->lines, node, &s->labels, label_of(s, node), p)
         || fail(s);
}

/* False without memory. */
static bool add_packet (tg_FoldedStacks *s, const tg_Packet *p) {
  switch (p->why) {
    case TG_WHY_ENTER: return enter(s, p);
    case TG_WHY_TICK: return add_tick(s, p);
    case TG_WHY_MARK: return add_allocations(s, p);
    case TG_WHY_RETURN: case TG_WHY_EXCEPTION: case TG_WHY_YIELD:
    case TG_WHY_TERMINATED: default: leave(s, p); return true;
  }
}

/* Several lines that have allocated between two events are told where holdings
   are. */
static void ask (tg_FoldedStacks *s) {
  const tg_Selection *of = s->x->selection;
  if (in_live(s) || (!in_time(s) && s->x->options.lines))
    tg_export_hold(s->x);
  else if (!in_time(s))
    tg_export_mark(s->x);
  if (tg_ticks_any(s->x) && (in_time(s) || s->x->options.lines)) {
    tg_ticks_ask(s->x);
    s->bytick.ticks = tg_bytick_kind(of->sample, of->with_calls);
    s->bytick.spots = s->x->options.lines ? &s->spots : NULL;
  }
}

/* The tree becomes one of lines. */
static bool place_all (tg_FoldedStacks *s) {
  tg_LineTree lined;
  if (!tg_linetree_make(&lined, &s->tree, &s->spots, &s->lines))
    return false;
  tg_calltree_free(&s->tree);
  tg_spots_free(&s->spots);
  tg_free(lined.places);
  s->tree = lined.tree;
  s->spots = lined.spots;
  return true;
}

/* Also the time after the last frame. */
static bool settle (tg_FoldedStacks *s) {
  if (s->x->end_ns > s->bytick.now_ns)
    tg_bytick_pass(&s->bytick, &s->tree, 0, s->x->end_ns, s->bytick.spent_ns);
  uint32_t idle = tg_funclabels_of(&s->labels, TG_FUNCTION_IDLE);
  uint32_t row = idle != TG_INTMAP_NONE ? number_of(s, idle, 0) : idle;
  return row != TG_INTMAP_NONE
         && tg_bytick_settle(&s->bytick, &s->tree, row)
         && tg_linetimes_divide(&s->lines, &s->tree, 0);
}

/* What of a line is asked for becomes its amount. */
static void settle_lines (tg_FoldedStacks *s) {
  tg_Weight weight = s->x->options.weight;
  for (uint32_t i = 0; i < s->lines.spots.count; i++) {
    tg_LineTime *line = &s->lines.list[i];
    line->self_ns = weight == TG_WEIGHT_BYTES ? line->bytes
                    : weight == TG_WEIGHT_ALLOCATIONS ? line->allocations
                    : weight == TG_WEIGHT_LIVE ? line->live.bytes
                    : line->high.bytes;
  }
}

/* What is alive becomes the sums of nodes. False if the recording does not tell
   it, an older one, and without memory. */
static bool settle_live (tg_FoldedStacks *s) {
  bool peak = s->x->options.weight == TG_WEIGHT_PEAK_LIVE;
  for (uint32_t i = 0; i < s->makers.count; i++) {
    tg_LiveSum live = tg_live_of(&s->live, i);
    tg_Node *n = &s->tree.nodes[s->makers.list[i].of];
    n->tally.self_ns += (peak ? live.peak : live.now).bytes;
  }
  if (s->x->status == TG_OK && !s->live.told) {
    s->x->status = TG_ERR_IO;
    s->x->out->error = ENODATA;
  }
  return s->x->status == TG_OK
         && (tg_linememory_hold(&s->lines, &s->makers, &s->live, NULL)
             || fail(s));
}

static bool settle_all (tg_FoldedStacks *s) {
  if (in_time(s))
    return settle(s) || fail(s);
  if (in_live(s) && !settle_live(s))
    return false;
  settle_lines(s);
  return true;
}

/* Each amount goes to the innermost frame, whatever coroutine the frame is in:
   a suspended coroutine has no open frame. The tree's 'self_ns' has the sum,
   whatever its unit. */
bool tg_foldedstacks_read (tg_FoldedStacks *s, tg_Export *x) {
  *s = (tg_FoldedStacks){.x = x};
  tg_funclabels_init(&s->labels, x->stream->functions);
  if (!tg_calltree_init(&s->tree))
    return fail(s);
  tg_Packet p;
  ask(s);
  while (tg_export_next(s->x, &p)) {
    if (in_time(s))
      tg_bytick_pass(&s->bytick, &s->tree, innermost(s), p.time_ns,
                     p.spent_ns);
    if (!add_packet(s, &p))
      return false;
  }
  return settle_all(s) && (!x->options.lines || place_all(s) || fail(s))
         && x->status == TG_OK;
}

void tg_foldedstacks_free (tg_FoldedStacks *s) {
  tg_free(s->open);
  tg_calltree_free(&s->tree);
  tg_spots_free(&s->spots);
  tg_linetimes_free(&s->lines);
  tg_intmap_free(&s->roots);
  tg_live_free(&s->live);
  tg_spots_free(&s->makers);
  tg_funclabels_free(&s->labels);
}
