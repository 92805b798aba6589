/*
** query.c - see query.h. For trace/scopesession.c; on whatever thread asks, one
** question of a session at a time.
**
** What a segment has can be told without reading it (its sums), with a part of
** it (its long events) or by reading it again; here it is decided which is
** enough. What cannot be read is in the cursor's 'status', and there are no
** further events then.
*/
#include "scope/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/*
** {==================================================================
** What is selected
** ===================================================================
*/

/* Types are bits of a question; none at all means every type. */
static bool is_type (const tg_ScopeQuery *q, tg_ScopeType type) {
  return q->types == 0 || (q->types >> type & 1) != 0;
}

/* Numbers first: they tell most events apart. Inside of an event are the
   numbers after its own, up to its last (walk.h). */
TG_INLINE bool selects (const tg_ScopeCursor *c, const tg_ScopeEvent *e) {
  const tg_ScopeQuery *q = &c->query;
  return e->timeline == q->timeline && e->id > c->above && e->id <= c->last
         && e->depth <= c->depth && is_type(q, e->type)
         && e->start_ns <= q->to_ns && e->end_ns >= q->from_ns;
}

/* A sum has no numbers and times: 'covers' has found that the question leaves
   none out. */
static bool selects_sum (const tg_ScopeCursor *c, const tg_ScopeSum *sum) {
  return sum->timeline == c->query.timeline && sum->depth <= c->depth
         && is_type(&c->query, c->scope->kinds.list[sum->kind].type);
}

/* When the events of a segment that are not long have ended. */
static uint64_t end_of (const tg_Scope *s, uint32_t segment) {
  return segment + 1 < s->nsegments ? s->segments[segment + 1].start_ns
                                    : s->duration_ns;
}

/* Whether the question leaves no event of a segment out by its number or its
   time. */
static bool covers (const tg_ScopeCursor *c, uint32_t segment) {
  const tg_ScopeSegment *g = &c->scope->segments[segment];
  return g->first > c->above
         && tg_scope_segment_end(c->scope, segment) - 1 <= c->last
         && g->start_ns >= c->query.from_ns
         && end_of(c->scope, segment) <= c->query.to_ns;
}

/* Whether some event of a segment that is not long may be selected. */
static bool may_select (const tg_ScopeCursor *c, uint32_t segment) {
  const tg_ScopeSegment *g = &c->scope->segments[segment];
  if (end_of(c->scope, segment) < c->query.from_ns)
    return false;
  bool found = !g->sums.whole;
  for (uint32_t i = 0; i < g->sums.count && !found; i++)
    found = selects_sum(c, &g->sums.list[i]);
  return found;
}

/* }================================================================== */

/*
** {==================================================================
** One by one
** ===================================================================
*/

/* The events of the segment at hand that are to be looked at; NULL if they
   cannot be read. It is loaded again for each: the list is the session's, and
   another question may have come between. */
static const tg_ScopeEvent *events_of (tg_ScopeCursor *c, size_t *count) {
  const tg_ScopeEvent *list = NULL;
  if (!c->loaded) {
    c->loaded = true;
    c->next = 0;
    c->whole = may_select(c, c->segment);
  }
  if (!c->whole)
    return tg_scope_longs(c->scope, c->segment, count);
  c->status = tg_scope_load(c->scope, c->segment, &list, count);
  return c->status == TG_OK ? list : NULL;
}

/* In order of the numbers, segment after segment: long events are in the
   segment in which they begin. */
static const tg_ScopeEvent *next_selected (tg_ScopeCursor *c) {
  while (c->segment < c->end_segment && c->status == TG_OK) {
    size_t count;
    const tg_ScopeEvent *list = events_of(c, &count);
    while (list != NULL && c->next < count) {
      const tg_ScopeEvent *e = &list[c->next++];
      if (selects(c, e))
        return e;
    }
    c->segment++;
    c->loaded = false;
  }
  return NULL;
}

/* }================================================================== */

/*
** {==================================================================
** Reductions
** ===================================================================
*/

/* The interval of a group is from its first event's beginning to the latest
   end. */
static void add (tg_ScopeEvent *group, const tg_ScopeEvent *e) {
  if (group->hits == 0 || e->id < group->id) {
    group->id = e->id;          /* begins first: what they are sorted by */
    group->start_ns = e->start_ns;
  }
  if (group->end_ns < e->end_ns)
    group->end_ns = e->end_ns;
  group->time_ns += e->time_ns;
  group->overhead_ns += e->overhead_ns;
  group->hits += e->hits;
}

/* What of a kind is added up together. */
static uint32_t group_of (const tg_ScopeCursor *c, uint32_t kind) {
  switch (c->query.mode) {
    case TG_SCOPE_UNIQUE_TYPES: return c->scope->kinds.list[kind].type;
    case TG_SCOPE_UNIQUE_EVENTS: return kind;
    case TG_SCOPE_REDUCE_ALL: return 0;
    case TG_SCOPE_ALL: default: tg_unreachable(); return 0;
  }
}

/* Adds a sum as one event that stands for all events in it. */
static void add_sum (tg_ScopeCursor *c, const tg_ScopeSum *sum) {
  const tg_ScopeEvent e = {
    .start_ns = sum->start_ns, .end_ns = sum->end_ns, .time_ns = sum->time_ns,
    .overhead_ns = sum->overhead_ns, .hits = sum->hits, .id = sum->first
  };
  add(&c->groups[group_of(c, sum->kind)], &e);
}

static void add_sums (tg_ScopeCursor *c, const tg_ScopeSums *sums) {
  for (uint32_t i = 0; i < sums->count; i++) {
    if (selects_sum(c, &sums->list[i]))
      add_sum(c, &sums->list[i]);
  }
}

static void add_events (tg_ScopeCursor *c, const tg_ScopeEvent *list,
                        size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (selects(c, &list[i]))
      add(&c->groups[group_of(c, list[i].kind)], &list[i]);
  }
}

/* A sum has no single times and numbers any more, so it can be taken only where
   the question would take all that is in it. */
static void add_segment (tg_ScopeCursor *c) {
  size_t count;
  const tg_ScopeSegment *g = &c->scope->segments[c->segment];
  if (g->sums.whole && covers(c, c->segment)) {
    add_sums(c, &g->sums);
    const tg_ScopeEvent *longs = tg_scope_longs(c->scope, c->segment, &count);
    add_events(c, longs, count);
    return;
  }
  c->loaded = false;
  const tg_ScopeEvent *list = events_of(c, &count);
  if (list != NULL)
    add_events(c, list, count);
}

static int by_id (const void *x, const void *y) {
  const tg_ScopeEvent *a = x, *b = y;
  return (a->id > b->id) - (a->id < b->id);
}

/* Groups that have an event, the one that begins first first; moved to the
   front of the array that they are in. */
static void sort_groups (tg_ScopeCursor *c, uint32_t room) {
  for (uint32_t i = 0; i < room; i++) {
    tg_ScopeEvent *g = &c->groups[i];
    if (g->hits == 0)
      continue;
    g->kind = i;
    g->type = c->query.mode == TG_SCOPE_UNIQUE_EVENTS
              ? c->scope->kinds.list[i].type
              : c->query.mode == TG_SCOPE_UNIQUE_TYPES ? (tg_ScopeType)i
                                                       : TG_SCOPE_GENERIC;
    tg_assert(c->ngroups <= i);
    c->groups[c->ngroups++] = *g;
  }
  qsort(c->groups, c->ngroups, sizeof *c->groups, by_id);
}

/* One place for each group that there may be: kinds are numbered, so no table
   is needed to find one. False with a status. */
static bool reduce (tg_ScopeCursor *c) {
  uint32_t room = TG_SCOPE_TYPES_MAX + 1;
  if (c->query.mode == TG_SCOPE_UNIQUE_EVENTS)
    room = c->scope->kinds.count;
  c->groups = tg_calloc(room + (size_t)1, sizeof *c->groups);
  if (c->groups == NULL) {
    c->status = TG_ERR_MEMORY;
    return false;
  }
  for (; c->segment < c->end_segment && c->status == TG_OK; c->segment++)
    add_segment(c);
  sort_groups(c, room);
  return c->status == TG_OK;
}

/* }================================================================== */

/* Numbers and depths of what is inside the root; false if it is not there. */
static bool go_below (tg_ScopeCursor *c) {
  uint32_t depth = 0;
  c->above = 0;
  c->last = c->scope->events;
  if (c->query.root != 0) {
    const tg_ScopeEvent *e = tg_scope_event(c->scope, c->query.root,
                                            &c->status);
    if (e == NULL || e->timeline != c->query.timeline)
      return false;
    c->above = e->id;
    c->last = e->last;
    depth = e->depth;
  }
  uint32_t most = c->query.max_depth;
  c->depth = most <= UINT32_MAX - depth ? depth + most : UINT32_MAX;
  return true;
}

/* The segments in which there may be something. */
static void set_segments (tg_ScopeCursor *c) {
  const tg_Scope *s = c->scope;
  const tg_Timeline *t = &s->timelines.list[c->query.timeline];
  if (t->events == 0 || c->above == c->last)
    return;                     /* none */
  uint32_t first = tg_scope_segment(s, c->above + 1);
  uint32_t last = tg_scope_segment(s, c->last);
  tg_assert(first <= last && t->first <= t->latest);
  c->segment = first > t->first ? first : t->first;
  c->end_segment = (last < t->latest ? last : t->latest) + 1;
  while (c->end_segment > c->segment
         && s->segments[c->end_segment - 1].start_ns > c->query.to_ns)
    c->end_segment--;
}

/* False: the question is about an event that there is not, or it failed;
   'status' tells which. */
bool tg_scopequery_open (tg_ScopeCursor *c, tg_Scope *s,
                         const tg_ScopeQuery *q) {
  memset(c, 0, sizeof *c);
  c->scope = s;
  c->query = *q;
  tg_check(q->timeline < s->timelines.count);
  if (!go_below(c))
    return false;
  set_segments(c);
  return q->mode == TG_SCOPE_ALL || reduce(c);
}

/* Groups are all made when the question is opened; single events come as they
   are asked for. */
const tg_ScopeEvent *tg_scopequery_next (tg_ScopeCursor *c) {
  if (c->query.mode == TG_SCOPE_ALL)
    return next_selected(c);
  return c->given < c->ngroups ? &c->groups[c->given++] : NULL;
}

void tg_scopequery_close (tg_ScopeCursor *c) {
  tg_free(c->groups);
  memset(c, 0, sizeof *c);
}
