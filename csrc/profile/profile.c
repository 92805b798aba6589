/*
** profile.c - see profile.h.
**
** Called by reports and exports, with every packet, on the thread that reads.
** Nothing is allocated for a packet that brings nothing new. Memory that is
** refused is latched in 'status', and later packets are passed over.
*/
#include "profile/profile.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "profile/outcome.h"
#include "profile/profilelines.h"
#include "stream/holdings.h"
#include "stream/marks.h"

/*
** {==================================================================
** Rows
** ===================================================================
*/

/* The row of a label that has none; TG_INTMAP_NONE without memory. */
static TG_NOINLINE uint32_t new_row (tg_Profile *p, uint32_t label) {
  if (label == TG_INTMAP_NONE
      || !tg_grow(&p->rows, &p->crows, label + 1, sizeof *p->rows))
    return TG_INTMAP_NONE;
  memset(&p->rows[label], 0, sizeof p->rows[label]);
  tg_assert(label >= p->nrows);
  p->rows[label].min_ns = UINT64_MAX;
  p->nrows = label + 1;
  return label;
}

/* Rows have the numbers of labels. */
TG_INLINE uint32_t row_of (tg_Profile *p, tg_FunctionId id) {
  uint32_t label = tg_funclabels_of(&p->labels, id);
  return tg_likely(label < p->nrows) ? label : new_row(p, label);
}

uint32_t tg_profile_row (tg_Profile *p, tg_FunctionId id) {
  return row_of(p, id);
}

const tg_Function *tg_profile_function (const tg_Profile *p, uint32_t row) {
  return tg_funclabels_function(&p->labels, row);
}

/* }================================================================== */

/*
** {==================================================================
** Packets
** ===================================================================
*/

/* A call will not go on: how long it took is known. */
static void over (void *owner, const tg_SuspendedCall *call) {
  tg_Profile *p = owner;
  tg_Row *r = &p->rows[call->row];
  if (!call->counted)
    return;
  r->sum_ns += call->ran_ns;
  if (call->ran_ns < r->min_ns)
    r->min_ns = call->ran_ns;
  if (call->ran_ns > r->max_ns)
    r->max_ns = call->ran_ns;
}

/* False without memory. A report needs no tree, whose nodes may be many more
   than functions. */
bool tg_profile_init (tg_Profile *p, const tg_Functions *functions,
                      bool tree) {
  memset(p, 0, sizeof *p);
  tg_funclabels_init(&p->labels, functions);
  tg_suspended_init(&p->waiting, over, p);
  p->levels = UINT32_MAX;
  return !tree || tg_calltree_init(&p->tree);
}

bool tg_profile_tick (tg_Profile *p, tg_Ticks ticks) {
  tg_assert(p->events == 0);
  p->bytick.ticks = ticks;
  return ticks != TG_TICKS_BESIDE || p->tree.count > 0
         || tg_calltree_init(&p->tree);
}

void tg_profile_lines (tg_Profile *p, tg_Lined lined) {
  tg_assert(p->events == 0 && (lined != TG_LINED_TREE || p->tree.count > 0));
  p->lined = lined;
  p->bytick.spots = lined == TG_LINED_TREE ? &p->spots : NULL;
}

void tg_profile_makers (tg_Profile *p, tg_Reader *reader) {
  tg_assert(p->events == 0);
  p->maker_reader = p->bytick.ticks == TG_TICKS_ONLY ? reader : NULL;
}

void tg_profile_free (tg_Profile *p) {
  tg_free(p->rows);
  tg_linetimes_free(&p->lines);
  tg_linetimes_free(&p->sites);
  tg_spots_free(&p->spots);
  tg_free(p->open);
  tg_funclabels_free(&p->labels);
  tg_calltree_free(&p->tree);
  tg_suspended_free(&p->waiting);
  tg_usage_free(&p->usage);
  memset(p, 0, sizeof *p);
}

/* A tree has its root from the beginning, so an empty one is none. */
static bool has_tree (const tg_Profile *p) {
  return p->tree.count > 0;
}

/* Whether there is a tree and the frame has a node of its own in it. */
static bool has_node (const tg_Profile *p, const tg_Open *o) {
  return has_tree(p) && !o->folded;
}

/* So much time is the innermost frame's. */
static void add_self (tg_Profile *p, uint64_t ns, uint64_t spent_ns) {
  tg_Row *r = &p->rows[p->open[p->nopen - 1].call.row];
  r->tally.self_ns += ns;
  r->spent_ns += spent_ns;
}

/* The time since the packet before is the innermost frame's. What is called
   comes last: so nothing is saved for it where there is no tree. */
static void pass_time (tg_Profile *p, uint64_t now_ns, uint64_t spent_ns) {
  uint64_t ns = now_ns - p->last_ns;
  uint64_t spent = spent_ns > p->spent_ns ? spent_ns - p->spent_ns : 0;
  tg_assert(now_ns >= p->last_ns);
  p->last_ns = now_ns;
  p->spent_ns = spent_ns;
  if (p->bytick.ticks != TG_TICKS_ONLY) {
    p->now_ns = now_ns;
    if (p->nopen > 0)
      add_self(p, ns, spent);
    else
      p->idle_ns += ns;
  }
  if (has_tree(p))
    tg_bytick_pass(&p->bytick, &p->tree, tg_profile_node(p), now_ns, spent_ns);
}

/* The innermost open frame that is no pause; NULL: there is none. Nothing is
   called by a pause. */
static const tg_Open *innermost (const tg_Profile *p) {
  uint32_t i = p->nopen;
  while (i > 0 && p->open[i - 1].pause)
    i--;
  return i > 0 ? &p->open[i - 1] : NULL;
}

/* The frame is one way further down the tree; false without memory. Below the
   last level frames are folded into the one there. */
static bool enter_node (tg_Profile *p, tg_Open *o, const tg_Packet *k) {
  const tg_Open *caller = innermost(p);
  uint32_t parent = caller != NULL ? caller->node : 0;
  if (p->deepest <= p->nopen)
    p->deepest = p->nopen + 1;
  o->folded = p->nopen >= p->levels;
  if (o->folded) {
    o->node = parent;
    tg_bytick_fold(&p->tree, parent, k, tg_profile_function(p, o->call.row));
    return true;
  }
  o->node = p->lined == TG_LINED_TREE
            ? tg_profilelines_child(p, parent, o->call.row,
                                    tg_profilelines_caller(p, k))
            : tg_calltree_child(&p->tree, parent, o->call.row);
  tg_Node *n = &p->tree.nodes[o->node];
  n->tally.calls += !k->resumed && !k->sampled;
  tg_bytick_enter(&p->tree, o->node, k, tg_profile_function(p, o->call.row));
  n->outermost = p->rows[o->call.row].open == 1;
  return o->node != 0;
}

static bool counts_usage (const tg_Profile *p, const tg_Open *o) {
  return p->usage.on && !o->pause;
}

/* The innermost frame is to be one of that function; NULL without memory. */
static tg_Open *open_frame (tg_Profile *p, tg_FunctionId function,
                            tg_ThreadId thread, bool called) {
  uint32_t row = row_of(p, function);
  if (row == TG_INTMAP_NONE
      || !tg_grow(&p->open, &p->copen, p->nopen + 1, sizeof *p->open))
    return NULL;
  tg_Row *r = &p->rows[row];
  tg_Open *o = &p->open[p->nopen];
  *o = (tg_Open){.call = {.row = row, .counted = called},
                 .opened_ns = p->now_ns, .thread = thread};
  r->tally.calls += called;
  if (r->open++ == 0)
    r->since_ns = p->now_ns;
  return o;
}

/* Of a call that goes on the time so far is known, if its yield was seen. */
static bool enter (tg_Profile *p, const tg_Packet *k) {
  bool called = !k->resumed && !k->sampled;
  tg_Open *o = open_frame(p, k->function, k->thread, called);
  if (o == NULL)
    return false;
  uint32_t row = o->call.row;
  tg_Row *r = &p->rows[row];
  o->sampled = k->sampled;
  if (k->resumed)
    tg_suspended_resume(&p->waiting, k->thread, row, &o->call);
  if (called && p->lined == TG_LINED_ROWS && !tg_profilelines_call(p, k))
    return false;
  o->pause = k->sampled
                 && tg_function_is_pause(tg_profile_function(p, row));
  if ((has_tree(p) && !enter_node(p, o, k))
      || (counts_usage(p, o)
          && !tg_usage_enter(&p->usage, row, o->node, r->open == 1)))
    return false;
  p->nopen++;
  return true;
}

/* The innermost frame is closed; its times are added. */
static tg_Open *close_frame (tg_Profile *p) {
  tg_assert(p->nopen > 0);
  tg_Open *o = &p->open[--p->nopen];
  tg_Row *r = &p->rows[o->call.row];
  tg_assert(r->open > 0 && p->now_ns >= o->opened_ns);
  uint64_t stay_ns = p->now_ns - o->opened_ns;
  o->call.ran_ns += stay_ns;
  if (--r->open == 0)
    r->tally.total_ns += p->now_ns - r->since_ns;
  if (has_node(p, o))
    p->tree.nodes[o->node].tally.total_ns += stay_ns;
  if (counts_usage(p, o))
    tg_usage_leave(&p->usage, r->open == 0, has_node(p, o));
  return o;
}

/* Frames that a yield or an error left are counted at each of them, as packets
   tell. */
static void count_why (tg_Tally *t, tg_Why why) {
  t->throws += why == TG_WHY_EXCEPTION;
  t->yields += why == TG_WHY_YIELD;
}

/* Whether a frame that was just closed was its coroutine's outermost. */
static bool was_last (const tg_Profile *p, const tg_Open *o) {
  return p->nopen == 0 || p->open[p->nopen - 1].thread != o->thread;
}

/* The call of a frame that was just closed will not go on. */
static void end_call (tg_Profile *p, const tg_Open *o) {
  over(p, &o->call);
  if (p->waiting.places.count > 0 && was_last(p, o))
    tg_suspended_end(&p->waiting, o->thread);
}

/* A frame is left: for good, or until its coroutine is resumed. */
static bool leave (tg_Profile *p, const tg_Packet *k) {
  if (p->nopen == 0)
    return true;        /* a reader gives no such packet */
  const tg_Open *o = close_frame(p);
  if (k->why != TG_WHY_RETURN) {
    count_why(&p->rows[o->call.row].tally, k->why);
    if (has_node(p, o))
      count_why(&p->tree.nodes[o->node].tally, k->why);
  }
  if (k->why == TG_WHY_YIELD)
    return tg_suspended_park(&p->waiting, o->thread, &o->call);
  end_call(p, o);
  return true;
}

/* The frames that are open have run for so long, those too that opened for this
   tick. */
static void tick_open (tg_Profile *p, const tg_Packet *k) {
  const tg_Open *o = &p->open[p->nopen - 1];
  tg_ticked_add(&p->rows[o->call.row].ticked, k->hits);
  if (p->bytick.ticks == TG_TICKS_ONLY) {
    p->now_ns += k->hits;
    add_self(p, k->hits, 0);
  }
}

/* What ran in no frame that is open has one for the tick. */
static tg_Packet inner_frame (const tg_Profile *p, const tg_Packet *tick) {
  tg_Packet k = {
    .time_ns = tick->time_ns, .spent_ns = tick->spent_ns,
    .function = tick->function, .thread = tick->thread, .sampled = true
  };
  if (p->nopen > 0) {
    k.caller = p->labels.list[p->open[p->nopen - 1].call.row];
    k.line = tg_linetimes_line(tick, p->nopen - 1);
  }
  return k;
}

/* False without memory. */
static bool add_tick (tg_Profile *p, const tg_Packet *k) {
  if (!tg_profilelines_place(p, k))
    return false;
  tg_Packet frame = inner_frame(p, k);
  if ((frame.function != 0 && !enter(p, &frame))
      || !tg_profilelines_tick(p, k))
    return false;
  if (has_tree(p))
    tg_bytick_tick(&p->bytick, &p->tree, tg_profile_node(p), k);
  if (p->nopen > 0)
    tick_open(p, k);
  if (frame.function != 0)
    close_frame(p);
  return true;
}

/* What a line has made is its function's, which has a frame for that. 'only':
   the packet tells of nothing else. */
static bool add_made (tg_Profile *p, const tg_Packet *k,
                      const tg_AllocLine *line, bool only) {
  tg_Packet frame = {.function = line->function, .thread = k->thread,
                     .time_ns = k->time_ns, .sampled = true};
  tg_Allocations made = {.count = line->count, .allocated = line->bytes};
  if (!enter(p, &frame))
    return false;
  tg_usage_add(&p->usage, &made);
  bool ok = tg_profilelines_made(p, line)
            && (!only || tg_usage_hold(&p->usage, k, line->line));
  close_frame(p);
  return ok;
}

/* Whether it is another function's than that of the innermost frame. Of what
   is not shown nobody is told. */
static bool is_made_apart (tg_Profile *p, const tg_AllocLine *line) {
  const tg_Open *o = innermost(p);
  if (line->function == 0 || line->line == 0
      || !tg_reader_shows(p->maker_reader, line->function))
    return false;
  return o == NULL
         || o->call.row != tg_funclabels_of(&p->labels, line->function);
}

/* What other functions have made is taken from the innermost frame. An event of
   a line alone counts nothing by itself: then that is taken from what will be
   added by the one that counts all (stream/holdings.h), and sums are below 0
   meanwhile, modulo 2^64. '*held': what is alive has been told, too. */
static bool add_makers (tg_Profile *p, const tg_Packet *k,
                        const tg_Allocations *a, bool *held) {
  tg_Holdings h;
  tg_AllocLine line;
  tg_Allocations taken = {.count = 0};
  *held = false;
  if (p->maker_reader == NULL || !tg_holdings_read(&h, a->held, a->above))
    return true;
  bool only = tg_holdings_only(&h, a->count, a->allocated, &line);
  while (tg_holdings_line(&h, &line)) {
    if (!is_made_apart(p, &line))
      continue;
    if (!add_made(p, k, &line, only && !*held))
      return false;
    *held = only;
    taken.count -= line.count;
    taken.allocated -= line.bytes;
  }
  tg_usage_add(&p->usage, &taken);
  return true;
}

/* What was allocated; other markers are nothing to a profile. False without
   memory. */
static bool add_note (tg_Profile *p, const tg_Packet *k) {
  uint32_t line = 0;
  if (!p->usage.on || !tg_mark_holds(k->mark))
    return true;
  if (k->mark == TG_MARK_ALLOCATIONS) {
    tg_Allocations a = tg_event_allocations(k->values);
    bool held;
    tg_usage_add(&p->usage, &a);
    if (!add_makers(p, k, &a, &held) || !tg_profilelines_allocated(p, k))
      return false;
    if (held)
      return true;
    line = tg_profilelines_maker(p, k);
  }
  return tg_usage_hold(&p->usage, k, line);
}

static void begin (tg_Profile *p, uint64_t ns, uint64_t spent_ns) {
  p->begun = true;
  p->first_ns = p->last_ns = ns;
  p->now_ns = p->bytick.ticks == TG_TICKS_ONLY ? 0 : ns;
  p->spent_ns = spent_ns;
  if (has_tree(p))
    tg_bytick_pass(&p->bytick, &p->tree, 0, ns, spent_ns);
}

/* False without memory. */
static bool add_packet (tg_Profile *p, const tg_Packet *k) {
  if (k->why == TG_WHY_TICK)
    return add_tick(p, k);
  p->events++;
  if (k->why != TG_WHY_YIELD)
    tg_suspended_pass(&p->waiting);
  return k->why == TG_WHY_ENTER ? enter(p, k) : leave(p, k);
}

/* Time first, then what the packet changes: the time since the one before was
   spent in the frames that were open then. */
void tg_profile_add (tg_Profile *p, const tg_Packet *k) {
  if (tg_unlikely(p->status != TG_OK))
    return;
  if (tg_unlikely(k->why == TG_WHY_MARK)) {
    if (!add_note(p, k))
      p->status = TG_ERR_MEMORY;
    return;
  }
  if (tg_unlikely(!p->begun))
    begin(p, k->time_ns, k->spent_ns);
  pass_time(p, k->time_ns, k->spent_ns);
  if (!add_packet(p, k))
    p->status = TG_ERR_MEMORY;
}

bool tg_profile_takes_moves (const tg_Profile *p) {
  return !has_tree(p) && p->bytick.ticks == TG_TICKS_NONE
         && p->lined == TG_LINED_NOT && !p->usage.on;
}

/* As the packet of the same frame. */
static void add_move (tg_Profile *p, const tg_FrameMove *m) {
  pass_time(p, m->time_ns, m->spent_ns);
  p->events++;
  tg_suspended_pass(&p->waiting);
  if (!m->enters) {
    if (p->nopen > 0)
      end_call(p, close_frame(p));
  }
  else if (open_frame(p, m->function, m->thread, true) != NULL)
    p->nopen++;
  else
    p->status = TG_ERR_MEMORY;
}

void tg_profile_add_moves (tg_Profile *p, const tg_FrameMove *list,
                           uint32_t n) {
  tg_assert(tg_profile_takes_moves(p));
  if (n > 0 && tg_unlikely(!p->begun))
    begin(p, list->time_ns, list->spent_ns);
  for (uint32_t i = 0; i < n && p->status == TG_OK; i++)
    add_move(p, &list[i]);
}

/* }================================================================== */

/*
** {==================================================================
** The end
** ===================================================================
*/

/* The clock of a trace and its packets may differ by a tick. */
static void set_bounds (tg_Profile *p, uint64_t start_ns, uint64_t end_ns) {
  if (!p->begun)
    begin(p, start_ns, 0);
  if (start_ns < p->first_ns)
    p->before_ns = p->first_ns - start_ns;
  else
    start_ns = p->first_ns;
  p->idle_ns += p->before_ns;
  if (end_ns < p->last_ns)
    end_ns = p->last_ns;
  pass_time(p, end_ns, p->spent_ns);
  p->duration_ns = end_ns - start_ns;
}

/* False without memory. */
static bool settle_tree (tg_Profile *p) {
  bool beside = p->bytick.ticks == TG_TICKS_BESIDE;
  uint32_t idle = beside ? tg_funclabels_of(&p->labels, TG_FUNCTION_IDLE) : 0;
  uint32_t number = tg_profilelines_number(p, idle);
  uint32_t count = p->tree.count;
  if (idle == TG_INTMAP_NONE || number == TG_INTMAP_NONE
      || !tg_bytick_settle(&p->bytick, &p->tree, number))
    return false;
  if (p->tree.count > count && row_of(p, TG_FUNCTION_IDLE) != idle)
    return false;
  if (beside) {
    tg_outcome_rows(p, idle);
    p->idle_ns += p->before_ns;
    p->duration_ns = p->tree.nodes[0].tally.total_ns + p->before_ns;
  }
  p->tree.nodes[0].tally.total_ns = p->duration_ns;
  p->tree.nodes[0].tally.self_ns = p->idle_ns;
  return true;
}

static void settle (tg_Profile *p) {
  if (p->bytick.ticks == TG_TICKS_ONLY)
    tg_outcome_ticks(p);
  if ((has_tree(p) && !settle_tree(p)) || !tg_profilelines_settle(p))
    p->status = TG_ERR_MEMORY;
  if (p->bytick.ticks == TG_TICKS_NONE)
    tg_outcome_doubt(p);
}

/* A coroutine was collected, or closed: what it has parked will not go on. */
void tg_profile_gone (void *profile, tg_ThreadId thread) {
  tg_suspended_end(&((tg_Profile *)profile)->waiting, thread);
}

/* Frames that are open take part up to the end. Rows that were only left have
   no shortest call. */
void tg_profile_end (tg_Profile *p, uint64_t start_ns, uint64_t end_ns) {
  set_bounds(p, start_ns, end_ns);
  while (p->nopen > 0)
    over(p, &close_frame(p)->call);
  tg_suspended_finish(&p->waiting);
  if (p->usage.on && has_tree(p) && (!tg_usage_settle(&p->usage, &p->tree)
                                     || !tg_profilelines_hold(p)))
    p->status = TG_ERR_MEMORY;
  for (uint32_t i = 0; i < p->nrows; i++) {
    if (p->rows[i].tally.calls == 0)
      p->rows[i].min_ns = 0;
  }
  settle(p);
}

/* }================================================================== */
