/*
** making.c - see making.h. A session from its beginning to its end: reads all
** packets once and leaves the index of them.
**
** Called by trace/scopesession.c, on one thread at a time; a server makes one
** in portions, between which it does other things. Whatever fails, the session
** that is half made can be freed.
*/
#include "scope/making.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

/* Packets of a segment: so many, or such a part of all before, or of what is
   live; whatever is most. The first is what reading again costs, the others
   bound the memory. */
#define STRIDE_LEAST 16384u
#define STRIDE_PART 256u
#define STRIDE_LIVE 8u

/* An index that is being made. */
typedef struct tg_ScopeMaking {
  tg_ScopeWalk walk;    /* owns */
  tg_ScopePackets from; /* owns */
  uint64_t begin;       /* packets before the segment at hand */
  uint64_t look;        /* ...and when to ask whether it may end */
} Making;

/*
** {==================================================================
** Making the index
** ===================================================================
*/

/* The number of the first event of the segment at hand: where its records count
   from. */
static uint64_t first_record (const tg_Scope *s) {
  return s->segments[s->nsegments - 1].first;
}

/* While the index is made: an event is over, either a long one or one of this
   segment. */
static void event_over (tg_ScopeWalk *w, const tg_ScopeLive *l) {
  tg_Scope *s = w->owner;
  if (l->place != TG_INTMAP_NONE)
    s->longs[l->place] = l->event;
  else if (w->status == TG_OK) {
    tg_assert(l->event.id - first_record(s) < s->nrecords);
    s->records[l->event.id - first_record(s)] = l->event;
  }
}

/* Events that are not over where their segment ends are long ones from now on:
   their records are given up, and copied from the walk. False without
   memory. */
static bool keep_longs (tg_Scope *s, tg_ScopeWalk *w) {
  for (size_t i = 0; i < s->nrecords; i++) {
    const tg_ScopeEvent *e = &s->records[i];
    if (e->id != 0)
      continue;
    if (!tg_grow(&s->longs, &s->clongs, s->nlongs + 1, sizeof *s->longs))
      return false;
    tg_ScopeLive *l = &w->live[e->parent];
    l->place = s->nlongs;
    s->longs[s->nlongs++] = l->event;
  }
  return true;
}

/* Which segments have events of which timelines. */
static void note_timelines (tg_Scope *s, uint32_t segment,
                            const tg_ScopeWalk *w) {
  for (size_t i = 0; i < s->nrecords; i++) {
    const tg_ScopeEvent *e = &s->records[i];
    uint32_t timeline = e->id != 0 ? e->timeline
                                   : w->live[e->parent].event.timeline;
    tg_Timeline *t = &s->timelines.list[timeline];
    tg_assert(t->events == 0 || t->latest <= segment);
    if (t->events++ == 0)
      t->first = segment;
    t->latest = segment;
  }
}

/* Keeps of a segment which timelines it has, its sums, and the events that are
   not over. Records are used again for the next segment. */
static bool end_segment (tg_Scope *s, tg_ScopeWalk *w) {
  uint32_t i = s->nsegments - 1;
  note_timelines(s, i, w);
  return tg_scopesums_make(&s->summer, &s->segments[i].sums, s->records,
                           s->nrecords)
         && keep_longs(s, w);
}

/* Coroutines that are suspended keep their frames (reader/suspended.h); these
   are live, but not open. */
static uint32_t count_waiting (const tg_Suspended *all) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < all->used; i++)
    n += all->list[i].count;
  return n;
}

/* Notes the events that are live where a segment begins; all of them are long.
   They are noted by their place among the long ones, since live numbers are
   used again. False without memory. */
static bool note_live (tg_ScopeSegment *g, const tg_ScopeWalk *w) {
  uint32_t n = 0;
  g->nopen = w->nopen;
  g->nlive = w->nopen + count_waiting(&w->waiting);
  g->live = tg_malloc((g->nlive + (size_t)1) * sizeof *g->live);
  if (g->live == NULL)
    return false;
  for (uint32_t i = 0; i < w->nopen; i++)
    g->live[n++] = w->live[w->open[i]].place;
  for (uint32_t i = 0; i < w->waiting.used; i++) {
    const tg_Parked *p = &w->waiting.list[i];
    for (uint32_t j = 0; j < p->count; j++)
      g->live[n++] = w->live[p->calls[j].tag].place;
  }
  tg_assert(n == g->nlive);
  return true;
}

/* A segment begins where the reader stands. A copy of it is how the segment is
   read again: only that knows the frames open here without reading all that
   came before. */
static bool new_segment (tg_Scope *s, const tg_ScopeWalk *w,
                         const tg_Reader *reader) {
  if (!tg_grow(&s->segments, &s->csegments, s->nsegments + 1,
               sizeof *s->segments))
    return false;
  tg_ScopeSegment *g = &s->segments[s->nsegments++];
  memset(g, 0, sizeof *g);
  g->first = w->next_id;
  g->packets = s->packets;
  g->first_long = s->nlongs;
  g->now_ns = w->now_ns;
  g->spent_ns = w->spent_ns;
  if (w->now_ns > s->trace.start_ns)
    g->start_ns = w->now_ns - s->trace.start_ns;
  s->nrecords = 0;
  if (s->trace.selection.min_duration_ns == 0) {  /* else it cannot be copied */
    g->reader = tg_reader_copy(reader);
    if (g->reader == NULL)
      return false;
  }
  return note_live(g, w);
}

/* The length of a segment that ends here. Segments are longer as the trace
   grows, so that their number grows with its logarithm; and longer where many
   events are live, so that the notes about these stay a part of what is
   read. */
static uint64_t stride_of (const tg_Scope *s, const tg_ScopeWalk *w) {
  if (s->stride > 0)
    return s->stride;
  uint64_t live = (uint64_t)w->nopen + count_waiting(&w->waiting);
  uint64_t stride = STRIDE_LEAST;
  if (stride < s->packets / STRIDE_PART)
    stride = s->packets / STRIDE_PART;
  if (stride < STRIDE_LIVE * live)
    stride = STRIDE_LIVE * live;
  return stride;
}

/* Whether the segment that began there may end now. What is live changes, so if
   not '*look' is when to ask again. */
static bool may_end (const tg_Scope *s, const tg_ScopeWalk *w, uint64_t begin,
                     uint64_t *look) {
  uint64_t end = begin + stride_of(s, w);
  *look = s->packets + STRIDE_LEAST;
  if (*look > end)
    *look = end;
  return s->packets >= end;
}

/* So many packets; whether there may be more. */
static bool take_some (tg_Scope *s, Making *m, uint64_t n) {
  tg_Packet p;
  tg_ScopeWalk *w = &m->walk;
  for (; n > 0; n--) {
    if (w->status != TG_OK || !tg_scopepackets_next(&m->from, &p))
      return false;
    tg_scopewalk_add(w, &p);
    if (++s->packets < m->look || !tg_reader_between(m->from.reader)
        || !may_end(s, w, m->begin, &m->look))
      continue;
    if (w->status != TG_OK || !end_segment(s, w)
        || !new_segment(s, w, m->from.reader)) {
      w->status = TG_ERR_MEMORY;
      return false;
    }
    m->begin = s->packets;
  }
  return true;
}

/* What is damaged is shown as far as it goes. */
static tg_Status end_source (tg_Scope *s, const tg_ScopePackets *from) {
  tg_Status status = tg_minduration_status(&from->minduration);
  s->trace.end_ns = tg_reader_until(from->reader, s->trace.end_ns);
  if (status != TG_ERR_FORMAT)
    return status;
  s->damage = tg_reader_damage(from->reader);
  s->trace.end_ns = tg_reader_time(from->reader);
  return s->damage != 0 ? TG_OK : status;
}

/* All packets have been taken. The last one may be a tick later than the
   trace's end, which was read from the clock apart from it. */
static tg_Status end_making (tg_Scope *s, Making *m) {
  tg_ScopeWalk *w = &m->walk;
  if (w->status != TG_OK)
    return TG_ERR_MEMORY;
  tg_Status status = end_source(s, &m->from);
  if (s->trace.end_ns < w->now_ns)
    s->trace.end_ns = w->now_ns;
  tg_scopewalk_end(w, s->trace.end_ns);
  if (!end_segment(s, w) || w->status != TG_OK)
    return TG_ERR_MEMORY;
  s->duration_ns = s->trace.end_ns - s->trace.start_ns;
  s->events = w->next_id - 1;
  return status;
}

/* From the first segment on. False without memory; what was made until then is
   freed with the session. */
static bool begin_making (tg_Scope *s) {
  Making *m = tg_calloc(1, sizeof *m);
  if (m == NULL)
    return false;
  s->making = m;
  tg_index_walk(s, &m->walk, event_over);
  if (!tg_scopepackets_open(&s->trace, NULL, &m->from))
    return false;
  m->walk.now_ns = s->trace.start_ns;
  tg_minduration_watch(&m->from.minduration, tg_scopewalk_gone, &m->walk);
  return new_segment(s, &m->walk, m->from.reader);
}

/* What only the making needs: the index itself stays. */
static void free_making (tg_Scope *s) {
  if (s->making != NULL) {
    tg_scopepackets_close(&s->making->from);
    tg_scopewalk_free(&s->making->walk);
    tg_free(s->making);
    s->making = NULL;
  }
}

/* False: all has been taken, or something has failed; 'status' tells which. The
   session may be asked from then on. */
bool tg_scope_more (tg_Scope *s, uint64_t packets, tg_Status *status) {
  *status = TG_OK;
  if (s->making == NULL)
    return false;
  if (take_some(s, s->making, packets))
    return true;
  *status = end_making(s, s->making);
  free_making(s);
  return false;
}

/* }================================================================== */

/* Before any packet is read. */
static bool start (tg_Scope *s, const tg_ScopeSource *source) {
  s->stride = source->stride;
  s->loaded = TG_INTMAP_NONE;
  tg_scopekinds_init(&s->kinds, source->stream->functions, source->arguments);
  return tg_timelines_init(&s->timelines)
         && tg_scopepackets_init(&s->trace, source);
}

/* NULL with a reason. Packets are taken later, by tg_scope_more. */
tg_Scope *tg_scope_begin (const tg_ScopeSource *source, tg_Status *status) {
  tg_Scope *s = tg_calloc(1, sizeof *s);
  *status = TG_ERR_MEMORY;
  if (s == NULL)
    return NULL;
  if (start(s, source) && begin_making(s)) {
    *status = TG_OK;
    return s;
  }
  tg_scope_free(s);
  return NULL;
}

/* The whole at once, for who need not do anything else meanwhile. */
tg_Scope *tg_scope_new (const tg_ScopeSource *source, tg_Status *status) {
  tg_Scope *s = tg_scope_begin(source, status);
  while (s != NULL && tg_scope_more(s, UINT64_MAX, status))
    continue;
  if (*status == TG_OK)
    return s;
  tg_scope_free(s);
  return NULL;
}

/* Also a segment that is not complete: parts that it does not have are NULL. */
static void free_segment (tg_ScopeSegment *g) {
  tg_reader_free(g->reader);
  tg_free(g->live);
  tg_scopesums_free(&g->sums);
}

void tg_scope_free (tg_Scope *s) {
  if (s == NULL)
    return;
  free_making(s);
  for (uint32_t i = 0; i < s->nsegments; i++)
    free_segment(&s->segments[i]);
  tg_free(s->segments);
  tg_free(s->longs);
  tg_free(s->records);
  tg_free(s->summer.slots);
  tg_scopekinds_free(&s->kinds);
  tg_timelines_free(&s->timelines);
  tg_scopepackets_free(&s->trace);
  tg_free(s);
}
