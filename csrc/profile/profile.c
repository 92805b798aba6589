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
#include "profile/makers.h"
#include "profile/openframes.h"
#include "profile/outcome.h"
#include "profile/profilelines.h"

/*
** {==================================================================
** Rows
** ===================================================================
*/

uint32_t tg_profile_row (tg_Profile *p, tg_FunctionId id) {
  return tg_openframes_row(p, id);
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
  if (tg_openframes_has_tree(p))
    tg_bytick_pass(&p->bytick, &p->tree, tg_profile_node(p), now_ns, spent_ns);
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
  const tg_Open *o = tg_openframes_close(p);
  if (k->why != TG_WHY_RETURN) {
    count_why(&p->rows[o->call.row].tally, k->why);
    if (tg_openframes_has_node(p, o))
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
  if ((frame.function != 0 && !tg_openframes_enter(p, &frame))
      || !tg_profilelines_tick(p, k))
    return false;
  if (tg_openframes_has_tree(p))
    tg_bytick_tick(&p->bytick, &p->tree, tg_profile_node(p), k);
  if (p->nopen > 0)
    tick_open(p, k);
  if (frame.function != 0)
    tg_openframes_close(p);
  return true;
}

static void begin (tg_Profile *p, uint64_t ns, uint64_t spent_ns) {
  p->begun = true;
  p->first_ns = p->last_ns = ns;
  p->now_ns = p->bytick.ticks == TG_TICKS_ONLY ? 0 : ns;
  p->spent_ns = spent_ns;
  if (tg_openframes_has_tree(p))
    tg_bytick_pass(&p->bytick, &p->tree, 0, ns, spent_ns);
}

/* False without memory. */
static bool add_packet (tg_Profile *p, const tg_Packet *k) {
  if (k->why == TG_WHY_TICK)
    return add_tick(p, k);
  p->events++;
  if (k->why != TG_WHY_YIELD)
    tg_suspended_pass(&p->waiting);
  return k->why == TG_WHY_ENTER ? tg_openframes_enter(p, k) : leave(p, k);
}

/* Time first, then what the packet changes: the time since the one before was
   spent in the frames that were open then. */
void tg_profile_add (tg_Profile *p, const tg_Packet *k) {
  if (tg_unlikely(p->status != TG_OK))
    return;
  if (tg_unlikely(k->why == TG_WHY_MARK)) {
    if (!tg_makers_note(p, k))
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
  return !tg_openframes_has_tree(p) && p->bytick.ticks == TG_TICKS_NONE
         && p->lined == TG_LINED_NOT && !p->usage.on;
}

/* As the packet of the same frame. */
static void add_move (tg_Profile *p, const tg_FrameMove *m) {
  pass_time(p, m->time_ns, m->spent_ns);
  p->events++;
  tg_suspended_pass(&p->waiting);
  if (!m->enters) {
    if (p->nopen > 0)
      end_call(p, tg_openframes_close(p));
  }
  else if (tg_openframes_open(p, m->function, m->thread, true) != NULL)
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
  if (p->tree.count > count && tg_openframes_row(p, TG_FUNCTION_IDLE) != idle)
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
  if ((tg_openframes_has_tree(p) && !settle_tree(p))
      || !tg_profilelines_settle(p))
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
    over(p, &tg_openframes_close(p)->call);
  tg_suspended_finish(&p->waiting);
  if (p->usage.on && tg_openframes_has_tree(p)
      && (!tg_usage_settle(&p->usage, &p->tree) || !tg_profilelines_hold(p)))
    p->status = TG_ERR_MEMORY;
  for (uint32_t i = 0; i < p->nrows; i++) {
    if (p->rows[i].tally.calls == 0)
      p->rows[i].min_ns = 0;
  }
  settle(p);
}

/* }================================================================== */
