/*
** walk.c - see walk.h. Used while a session is made (making.c) and whenever a
** segment of it is read again (index.c), on whatever thread asks.
**
** Without memory 'status' says so and packets are passed over: what came of
** them so far is good for freeing only.
*/
#include "scope/walk.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

#define MAIN_THREAD 1u

/*
** {==================================================================
** Timelines
** ===================================================================
*/

/* The number of a coroutine's timeline that has none yet. */
static TG_NOINLINE uint32_t new_timeline (tg_Timelines *t,
                                          tg_ThreadId thread) {
  if (!tg_grow(&t->list, &t->capacity, t->count + 1, sizeof *t->list))
    return TG_INTMAP_NONE;
  if (!tg_intmap_set(&t->by_thread, thread, t->count))
    return TG_INTMAP_NONE;
  t->list[t->count] = (tg_Timeline){.thread = thread, .first = TG_INTMAP_NONE};
  return t->count++;
}

/* Calls of one coroutine come in a row, so the latest is remembered. */
static uint32_t timeline_of (tg_Timelines *t, tg_ThreadId thread) {
  if (tg_likely(t->thread == thread))
    return t->latest;
  uint32_t found = tg_intmap_find(&t->by_thread, thread);
  if (found == TG_INTMAP_NONE)
    found = new_timeline(t, thread);
  if (found != TG_INTMAP_NONE) {
    t->thread = thread;
    t->latest = found;
  }
  return found;
}

bool tg_timelines_init (tg_Timelines *t) {
  memset(t, 0, sizeof *t);
  return timeline_of(t, MAIN_THREAD) != TG_INTMAP_NONE;
}

void tg_timelines_free (tg_Timelines *t) {
  tg_free(t->list);
  tg_intmap_free(&t->by_thread);
  memset(t, 0, sizeof *t);
}

/* }================================================================== */

/*
** {==================================================================
** Live events
** ===================================================================
*/

/* A live event, not initialized; TG_INTMAP_NONE without memory. Those that are
   over are used again, so there are never more than are live at once. */
TG_INLINE uint32_t new_live (tg_ScopeWalk *w) {
  uint32_t i = w->first_free;
  if (i != TG_INTMAP_NONE) {
    w->first_free = w->live[i].next_free;
    return i;
  }
  if (!tg_grow(&w->live, &w->clive, w->nlive + 1, sizeof *w->live))
    return TG_INTMAP_NONE;
  return w->nlive++;
}

/* The event is over: its parent has what is to be added up. A parent is over
   after its children, so this is the only place where sums are made. */
static void is_over (tg_ScopeWalk *w, uint32_t i) {
  tg_assert(i < w->nlive);
  tg_ScopeLive *l = &w->live[i];
  l->event.all_time_ns += l->event.time_ns;
  l->event.all_overhead_ns += l->event.overhead_ns;
  if (l->parent != TG_INTMAP_NONE) {
    tg_assert(l->parent < w->nlive);
    tg_ScopeEvent *parent = &w->live[l->parent].event;
    parent->all_time_ns += l->event.all_time_ns;
    parent->all_overhead_ns += l->event.all_overhead_ns;
    if (parent->last < l->event.last)
      parent->last = l->event.last;
  }
  if (!l->known)
    w->over(w, l);
  l->next_free = w->first_free;
  w->first_free = i;
}

/* A parked event will not go on: its coroutine is gone, or has ended. */
static void waiting_over (void *owner, const tg_SuspendedCall *call) {
  is_over(owner, (uint32_t)call->tag);
}

void tg_scopewalk_init (tg_ScopeWalk *w) {
  memset(w, 0, sizeof *w);
  w->next_id = 1;
  w->first_free = TG_INTMAP_NONE;
  tg_suspended_init(&w->waiting, waiting_over, w);
}

void tg_scopewalk_free (tg_ScopeWalk *w) {
  tg_free(w->live);
  tg_free(w->open);
  tg_suspended_free(&w->waiting);
  memset(w, 0, sizeof *w);
}

/* Live and open: it runs now, or something inside it does. */
static bool push_open (tg_ScopeWalk *w, uint32_t live) {
  if (!tg_grow(&w->open, &w->copen, w->nopen + 1, sizeof *w->open))
    return false;
  w->open[w->nopen++] = live;
  return true;
}

/* The innermost open event if it is of this coroutine: a coroutine's events
   nest among themselves, whoever resumed it. */
TG_INLINE uint32_t parent_in (const tg_ScopeWalk *w, tg_ThreadId thread) {
  if (w->nopen == 0)
    return TG_INTMAP_NONE;
  uint32_t top = w->open[w->nopen - 1];
  return w->live[top].thread == thread ? top : TG_INTMAP_NONE;
}

/* }================================================================== */

/*
** {==================================================================
** Packets
** ===================================================================
*/

/* The time since the packet before is the innermost event's, and so is what
   tracing has taken meanwhile. */
TG_INLINE void pass_time (tg_ScopeWalk *w, uint64_t now_ns,
                          uint64_t spent_ns) {
  tg_assert(now_ns >= w->now_ns);   /* a reader's times never go back */
  uint64_t ns = now_ns - w->now_ns, spent = 0;
  w->now_ns = now_ns;
  if (spent_ns > w->spent_ns) {     /* rounded: it may be one less */
    spent = spent_ns - w->spent_ns;
    w->spent_ns = spent_ns;
  }
  if (w->nopen == 0)
    return;
  tg_ScopeEvent *e = &w->live[w->open[w->nopen - 1]].event;
  e->time_ns += ns;
  e->overhead_ns += spent;
}

/* Makes live event 'i' the event that begins with this packet. It gets the next
   number, so that the events inside of it have the numbers after it. */
static bool begin (tg_ScopeWalk *w, uint32_t i, const tg_Packet *p) {
  uint32_t timeline = timeline_of(w->timelines, p->thread);
  uint32_t parent = parent_in(w, p->thread);
  bool body = parent == TG_INTMAP_NONE && p->thread != MAIN_THREAD;
  uint32_t kind = tg_scopekinds_of(w->kinds, p, body);
  if (timeline == TG_INTMAP_NONE || kind == TG_INTMAP_NONE)
    return false;
  tg_ScopeLive *l = &w->live[i];
  memset(l, 0, sizeof *l);
  l->thread = p->thread;
  l->label = w->kinds->list[kind].label;
  l->parent = parent;
  l->place = TG_INTMAP_NONE;
  tg_ScopeEvent *e = &l->event;
  e->start_ns = p->time_ns - w->start_ns;
  e->hits = 1;
  e->id = e->last = w->next_id++;
  e->type = w->kinds->list[kind].type;
  e->kind = kind;
  e->timeline = timeline;
  e->depth = 1;
  if (parent != TG_INTMAP_NONE) {
    tg_ScopeEvent *above = &w->live[parent].event;
    e->parent = above->id;
    e->depth = above->depth + 1;
    above->children++;
  }
  w->begun(w, i);
  return true;
}

/* The live event that a resumed frame goes on with, if it is known. */
static bool resume (tg_ScopeWalk *w, const tg_Packet *p, uint32_t *live) {
  tg_SuspendedCall call;
  uint32_t label = tg_scopekinds_label(w->kinds, p->function);
  if (!tg_suspended_resume(&w->waiting, p->thread, label, &call))
    return false;
  *live = (uint32_t)call.tag;
  w->live[*live].event.hits++;
  return true;
}

/* A call that goes on is the event that it was: it has been hit once more. */
static bool enter (tg_ScopeWalk *w, const tg_Packet *p) {
  uint32_t live;
  if (p->resumed && resume(w, p, &live))
    return push_open(w, live);
  live = new_live(w);
  if (live == TG_INTMAP_NONE)
    return false;
  return begin(w, live, p) && push_open(w, live);
}

/* The outermost event that waits in a coroutine, parked last and resumed first;
   TG_INTMAP_NONE: none. */
static uint32_t outermost_waiting (const tg_ScopeWalk *w, tg_ThreadId thread) {
  const tg_Suspended *all = &w->waiting;
  if (all->places.count == 0)
    return TG_INTMAP_NONE;
  uint32_t place = tg_intmap_find(&all->places, thread);
  if (place == TG_INTMAP_NONE || all->list[place].count == 0)
    return TG_INTMAP_NONE;
  return (uint32_t)all->list[place].calls[all->list[place].count - 1].tag;
}

/* Events inside of 'l' may still wait, because they were hidden when their
   coroutine went on: they are over before 'l' is. */
static void end_inside (tg_ScopeWalk *w, const tg_ScopeLive *l) {
  uint32_t inner = outermost_waiting(w, l->thread);
  if (inner != TG_INTMAP_NONE
      && w->live[inner].event.parent == l->event.id)
    tg_suspended_end(&w->waiting, l->thread);
}

/* A coroutine's outermost event is over: none of it is left. */
static void end_thread (tg_ScopeWalk *w, tg_ThreadId thread) {
  if (w->waiting.places.count > 0
      && parent_in(w, thread) == TG_INTMAP_NONE)
    tg_suspended_end(&w->waiting, thread);
}

/* An event that yields stays live, and is parked with its number; all others
   are over. */
static bool leave (tg_ScopeWalk *w, const tg_Packet *p) {
  if (w->nopen == 0)
    return true;        /* a reader gives no such packet */
  uint32_t i = w->open[--w->nopen];
  tg_ScopeLive *l = &w->live[i];
  l->event.end_ns = p->time_ns - w->start_ns;
  if (p->why == TG_WHY_YIELD) {
    const tg_SuspendedCall call = {.row = l->label, .tag = i};
    return tg_suspended_park(&w->waiting, l->thread, &call);
  }
  if (tg_unlikely(l->event.hits > 1))
    end_inside(w, l);
  tg_ThreadId thread = l->thread;
  is_over(w, i);
  end_thread(w, thread);
  return true;
}

/* Time passes before anything is done: it belongs to what ran until now. */
void tg_scopewalk_add (tg_ScopeWalk *w, const tg_Packet *p) {
  if (tg_unlikely(w->status != TG_OK))
    return;
  pass_time(w, p->time_ns, p->spent_ns);
  if (p->why != TG_WHY_YIELD)
    tg_suspended_pass(&w->waiting);
  bool ok = p->why == TG_WHY_ENTER ? enter(w, p) : leave(w, p);
  if (tg_unlikely(!ok))
    w->status = TG_ERR_MEMORY;
}

/* A coroutine was collected, or closed: what it has parked will not go on. */
void tg_scopewalk_gone (void *walk, tg_ThreadId thread) {
  tg_suspended_end(&((tg_ScopeWalk *)walk)->waiting, thread);
}

/* Whatever is live is over at the trace's end, innermost first, as calls end.
   */
void tg_scopewalk_end (tg_ScopeWalk *w, uint64_t end_ns) {
  if (end_ns > w->now_ns)
    pass_time(w, end_ns, w->spent_ns);
  tg_suspended_finish(&w->waiting);     /* some may be inside open ones, which
                                           must not be over before them */
  while (w->nopen > 0) {
    uint32_t i = w->open[--w->nopen];
    w->live[i].event.end_ns = w->now_ns - w->start_ns;
    is_over(w, i);
  }
}

/* }================================================================== */

/*
** {==================================================================
** Beginning in the middle
** ===================================================================
*/

/* An event that began in an earlier segment. What it adds up to is known, so it
   is not told when it is over ('known'), and has no parent to add to. */
static bool add_known (tg_ScopeWalk *w, const tg_ScopeEvent *e, bool open) {
  tg_assert(e->id != 0 && e->timeline < w->timelines->count);
  uint32_t i = new_live(w);
  if (i == TG_INTMAP_NONE)
    return false;
  tg_ScopeLive *l = &w->live[i];
  memset(l, 0, sizeof *l);
  l->event = *e;
  l->known = true;
  l->thread = w->timelines->list[e->timeline].thread;
  l->label = w->kinds->list[e->kind].label;
  l->parent = l->place = TG_INTMAP_NONE;
  if (open)
    return push_open(w, i);
  const tg_SuspendedCall call = {.row = l->label, .tag = i};
  return tg_suspended_park(&w->waiting, l->thread, &call);
}

void tg_scopewalk_known (tg_ScopeWalk *w, const tg_ScopeEvent *e, bool open) {
  if (w->status == TG_OK && !add_known(w, e, open))
    w->status = TG_ERR_MEMORY;
}

/* }================================================================== */
