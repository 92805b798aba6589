/*
** index.c - see index.h. Events by their numbers: kept, or read again.
**
** For query.c; making.c, which makes the index, uses its walk. On any thread,
** one at a time. Reading again can fail: for want of memory, or because the
** recording's file is not what it was when the index was made; then the segment
** is as if it had never been loaded.
*/
#include "scope/index.h"

#include <string.h>

#include "base/alloc.h"

#define FIRST_RECORDS 8192u   /* half of what a segment has at least */

/*
** {==================================================================
** Events of the segment at hand
** ===================================================================
*/

/* Not by tg_grow, whose count has 32 bits: a segment grows with its trace. */
static TG_NOINLINE bool grow_records (tg_Scope *s) {
  size_t n = s->crecords > 0 ? s->crecords * 2 : FIRST_RECORDS;
  tg_ScopeEvent *records = tg_realloc(s->records, n * sizeof *records);
  if (records == NULL)
    return false;
  s->records = records;
  s->crecords = n;
  return true;
}

/* Until an event is over its record has no id, and its live number instead of
   the parent's. */
static void event_begun (tg_ScopeWalk *w, uint32_t live) {
  tg_Scope *s = w->owner;
  if (s->nrecords == s->crecords && !grow_records(s)) {
    w->status = TG_ERR_MEMORY;
    return;
  }
  tg_ScopeEvent *e = &s->records[s->nrecords++];
  e->id = 0;
  e->parent = live;
}

/* The same walk makes the index and reads a part of it again; only what is done
   with an event that is over differs. */
void tg_index_walk (tg_Scope *s, tg_ScopeWalk *w, tg_IndexOver *over) {
  tg_scopewalk_init(w);
  w->kinds = &s->kinds;
  w->timelines = &s->timelines;
  w->start_ns = s->trace.start_ns;
  w->begun = event_begun;
  w->over = over;
  w->owner = s;
  s->nrecords = 0;
}

/* }================================================================== */

/*
** {==================================================================
** Reading a segment again
** ===================================================================
*/

/* When a segment is read again: the event's number tells its place, since
   numbers are given in order of entry in both readings. */
static void event_again (tg_ScopeWalk *w, const tg_ScopeLive *l) {
  tg_Scope *s = w->owner;
  if (w->status == TG_OK) {
    tg_assert(l->event.id - s->segments[s->loaded].first < s->nrecords);
    s->records[l->event.id - s->segments[s->loaded].first] = l->event;
  }
}

/* By halves: the last segment that begins at this event or before. */
uint32_t tg_scope_segment (const tg_Scope *s, uint64_t id) {
  tg_check(id > 0 && id <= s->events);
  uint32_t low = 0, high = s->nsegments;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (s->segments[middle].first <= id)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* The number after the segment's last event. */
uint64_t tg_scope_segment_end (const tg_Scope *s, uint32_t segment) {
  return segment + 1 < s->nsegments ? s->segments[segment + 1].first
                                    : s->events + 1;
}

/* They are in one list, by segment: so they end where the next one's begin. */
const tg_ScopeEvent *tg_scope_longs (const tg_Scope *s, uint32_t segment,
                                     size_t *count) {
  uint32_t first = s->segments[segment].first_long;
  uint32_t end = segment + 1 < s->nsegments
                 ? s->segments[segment + 1].first_long : s->nlongs;
  tg_assert(first <= end && end <= s->nlongs);
  *count = end - first;
  return end > first ? s->longs + first : NULL;
}

/* All that is live where the segment begins. */
static void put_known (const tg_Scope *s, const tg_ScopeSegment *g,
                       tg_ScopeWalk *w) {
  tg_assert(g->nopen <= g->nlive);
  w->next_id = g->first;
  w->now_ns = g->now_ns;
  w->spent_ns = g->spent_ns;
  for (uint32_t i = 0; i < g->nlive; i++)
    tg_scopewalk_known(w, &s->longs[g->live[i]], i < g->nopen);
  tg_suspended_pass(&w->waiting);
}

/* Takes as many packets as the segment had. With a copy of the reader they come
   at once; without one (minDuration) all before are read and passed over. */
static tg_Status add_segment (tg_Scope *s, uint32_t i, tg_ScopeWalk *w,
                              tg_ScopePackets *from) {
  tg_Packet p;
  bool last = i + 1 == s->nsegments;
  const tg_ScopeSegment *g = &s->segments[i];
  uint64_t n = (last ? s->packets : g[1].packets) - g->packets;
  uint64_t skip = g->reader != NULL ? 0 : g->packets;
  while (skip > 0 && tg_scopepackets_next(from, &p))
    skip--;
  tg_minduration_watch(&from->minduration, tg_scopewalk_gone, w);
  while (n > 0 && w->status == TG_OK && tg_scopepackets_next(from, &p)) {
    tg_scopewalk_add(w, &p);
    n--;
  }
  if (n > 0 && w->status == TG_OK) {
    tg_Status status = tg_minduration_status(&from->minduration);
    return status != TG_OK ? status : TG_ERR_FORMAT;  /* fewer than before */
  }
  if (last)
    tg_scopewalk_end(w, s->trace.end_ns);
  return w->status;
}

/* Those that are not over are the long ones, in the same order. */
static tg_Status fill_longs (tg_Scope *s, uint32_t segment) {
  size_t nlongs;
  const tg_ScopeEvent *longs = tg_scope_longs(s, segment, &nlongs);
  for (size_t i = 0; i < s->nrecords; i++) {
    if (s->records[i].id != 0)
      continue;
    if (nlongs == 0 || longs->id != s->segments[segment].first + i)
      return TG_ERR_FORMAT;             /* the file is another one by now */
    s->records[i] = *longs++;
    nlongs--;
  }
  return TG_OK;
}

/* The walk has to come out as it did: the same events, in the same order. */
static tg_Status read_again (tg_Scope *s, uint32_t segment) {
  tg_ScopeWalk w;
  tg_ScopePackets from;
  const tg_ScopeSegment *g = &s->segments[segment];
  s->loaded = segment;
  tg_index_walk(s, &w, event_again);
  put_known(s, g, &w);
  tg_Status status = TG_ERR_MEMORY;
  if (tg_scopepackets_open(&s->trace, g->reader, &from))
    status = add_segment(s, segment, &w, &from);
  tg_scopepackets_close(&from);
  tg_scopewalk_free(&w);
  if (status == TG_OK
      && s->nrecords != tg_scope_segment_end(s, segment) - g->first)
    status = TG_ERR_FORMAT;
  return status == TG_OK ? fill_longs(s, segment) : status;
}

/* The events of a segment, in order of their numbers. One segment is kept:
   questions that follow each other are mostly about the same part. */
tg_Status tg_scope_load (tg_Scope *s, uint32_t segment,
                         const tg_ScopeEvent **events, size_t *count) {
  if (s->loaded != segment) {
    tg_Status status = read_again(s, segment);
    if (status != TG_OK) {
      s->loaded = TG_INTMAP_NONE;
      return status;
    }
  }
  *events = s->records;
  *count = s->nrecords;
  return TG_OK;
}

/* The event with that number among the long ones of a segment, which stand in
   order of their numbers; NULL: it is not long. */
static const tg_ScopeEvent *find_long (const tg_Scope *s, uint32_t segment,
                                       uint64_t id) {
  size_t count;
  const tg_ScopeEvent *list = tg_scope_longs(s, segment, &count);
  while (count > 0) {
    size_t half = count / 2;
    if (list[half].id == id)
      return &list[half];
    if (list[half].id < id) {
      list += half + 1;
      count -= half + 1;
    }
    else
      count = half;
  }
  return NULL;
}

/* NULL with TG_OK: there is no such event. A long one needs no reading. */
const tg_ScopeEvent *tg_scope_event (tg_Scope *s, uint64_t id,
                                     tg_Status *status) {
  const tg_ScopeEvent *list;
  size_t count;
  *status = TG_OK;
  if (id == 0 || id > s->events)
    return NULL;
  uint32_t segment = tg_scope_segment(s, id);
  const tg_ScopeEvent *e = find_long(s, segment, id);
  if (e != NULL)
    return e;
  *status = tg_scope_load(s, segment, &list, &count);
  return *status == TG_OK ? &list[id - s->segments[segment].first] : NULL;
}

/* }================================================================== */
