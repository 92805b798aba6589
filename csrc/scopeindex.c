/*
** scopeindex.c - see scopeindex.h.
*/
#include "scopeindex.h"

#include <string.h>

#include "alloc.h"
#include "hash.h"

/* Packets of a segment: so many, or such a part of all before, or of what is
   live; whatever is most. The first is what reading again costs, the others
   bound the memory. */
#define STRIDE_LEAST 16384u
#define STRIDE_PART 256u
#define STRIDE_LIVE 8u

/* More kinds of events than such a part of a segment's are not added up. */
#define SUMS_LEAST 32u
#define SUMS_PART 6u

/* Packets by which the hook's cost is checked, and which of the times after
   them counts: the shortest but one in a hundred. */
#define SAMPLE 65536u
#define SAMPLE_TIMES 512u
#define SAMPLE_PART 100u

/* Packets from somewhere on, as the trace shows them. */
typedef struct Source {
  tg_Reader *reader;    /* owns */
  tg_Sieve sieve;       /* owns; on the reader */
} Source;

static void close_source (Source *from) {
  tg_sieve_free(&from->sieve);
  tg_reader_free(from->reader);
}

/* From the trace's beginning, or from where a reader stands. */
static bool open_source (const tg_Scope *s, const tg_Reader *at,
                         Source *from) {
  from->reader = at != NULL ? tg_reader_copy(at)
                            : tg_reader_new(s->stream, s->start, &s->demand);
  tg_sieve_init(&from->sieve, from->reader, s->demand.min_duration_ns);
  return from->reader != NULL;
}

TG_INLINE bool next (const tg_Scope *s, Source *from, tg_Packet *p) {
  return tg_sieve_next(&from->sieve, s->stop, p);
}

/*
** {==================================================================
** Events of the segment at hand
** ===================================================================
*/

/* Makes room for one more item in a growing array. */
static bool room (void *array, uint32_t count, uint32_t *capacity,
                  size_t size) {
  if (count < *capacity)
    return true;
  uint32_t n = *capacity > 0 ? *capacity * 2 : 64;
  void *old;
  memcpy(&old, array, sizeof old);
  void *bigger = n > *capacity ? tg_realloc(old, n * size) : NULL;
  if (bigger == NULL)
    return false;
  memcpy(array, &bigger, sizeof bigger);
  *capacity = n;
  return true;
}

static TG_NOINLINE bool grow_records (tg_Scope *s) {
  size_t n = s->crecords > 0 ? s->crecords * 2 : STRIDE_LEAST / 2;
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

static uint64_t first_record (const tg_Scope *s) {
  return s->segments[s->nsegments - 1].first;
}

/* While the index is made: the event is a long one, or of this segment. */
static void event_over (tg_ScopeWalk *w, const tg_ScopeLive *l) {
  tg_Scope *s = w->owner;
  if (l->place != TG_INDEX_NONE)
    s->longs[l->place] = l->event;
  else if (w->status == TG_OK)
    s->records[l->event.id - first_record(s)] = l->event;
}

/* When a segment is read again. */
static void event_again (tg_ScopeWalk *w, const tg_ScopeLive *l) {
  tg_Scope *s = w->owner;
  if (w->status == TG_OK)
    s->records[l->event.id - s->segments[s->loaded].first] = l->event;
}

static void start_walk (tg_Scope *s, tg_ScopeWalk *w) {
  tg_scopewalk_init(w);
  w->kinds = &s->kinds;
  w->timelines = &s->timelines;
  w->cost = s->cost;
  w->start_ns = s->start_ns;
  w->begun = event_begun;
  w->over = event_over;
  w->owner = s;
  s->nrecords = 0;
}

/* }================================================================== */

/*
** {==================================================================
** Sums
** ===================================================================
*/

static size_t home_of (const tg_Scope *s, const tg_ScopeEvent *e) {
  uint64_t key = (uint64_t)e->timeline << 40 ^ (uint64_t)e->depth << 20
                 ^ e->kind;
  return (size_t)tg_hash(key, s->slots) & (s->nslots - 1);
}

static bool sums (const tg_ScopeSum *sum, const tg_ScopeEvent *e) {
  return sum->kind == e->kind && sum->depth == e->depth
         && sum->timeline == e->timeline;
}

/* The sum that an event belongs to; a new one while there are fewer than
   'most'; NULL then. */
static tg_ScopeSum *sum_of (const tg_Scope *s, tg_ScopeSegment *g,
                            const tg_ScopeEvent *e, uint32_t most) {
  size_t i = home_of(s, e);
  while (s->slots[i] != 0) {
    tg_ScopeSum *sum = &g->sums[s->slots[i] - 1];
    if (sums(sum, e))
      return sum;
    i = (i + 1) & (s->nslots - 1);
  }
  if (g->nsums == most)
    return NULL;
  tg_ScopeSum *sum = &g->sums[g->nsums++];
  s->slots[i] = g->nsums;
  *sum = (tg_ScopeSum){
    .timeline = e->timeline, .kind = e->kind, .depth = e->depth,
    .start_ns = e->start_ns, .first = e->id
  };
  return sum;
}

static void add (tg_ScopeSum *sum, const tg_ScopeEvent *e) {
  sum->hits += e->hits;
  sum->time_ns += e->time_ns;
  sum->overhead_ns += e->overhead_ns;
  if (sum->end_ns < e->end_ns)
    sum->end_ns = e->end_ns;
}

/* Slots for so many sums, all free. */
static bool clear_slots (tg_Scope *s, uint32_t most) {
  uint32_t n = 64;
  while (n < 2 * most)
    n *= 2;
  if (n > s->nslots) {
    uint32_t *slots = tg_realloc(s->slots, n * sizeof *slots);
    if (slots == NULL)
      return false;
    s->slots = slots;
    s->nslots = n;
  }
  memset(s->slots, 0, s->nslots * sizeof *s->slots);
  return true;
}

/* Gives back what is not needed of the room for sums. */
static void trim_sums (tg_ScopeSegment *g) {
  size_t size = g->nsums * sizeof *g->sums;
  tg_ScopeSum *fit = size > 0 && g->summed ? tg_realloc(g->sums, size) : NULL;
  if (fit != NULL)
    g->sums = fit;
  else if (size == 0 || !g->summed) {
    tg_free(g->sums);
    g->sums = NULL;
    g->nsums = 0;
  }
}

/* Adds up all records that are over. False without memory. */
static bool make_sums (tg_Scope *s, tg_ScopeSegment *g) {
  uint32_t most = SUMS_LEAST + (uint32_t)(s->nrecords / SUMS_PART);
  g->sums = tg_malloc(most * sizeof *g->sums);
  if (g->sums == NULL || !clear_slots(s, most))
    return false;
  g->summed = true;
  for (size_t i = 0; i < s->nrecords && g->summed; i++) {
    const tg_ScopeEvent *e = &s->records[i];
    if (e->id == 0)
      continue;
    tg_ScopeSum *sum = sum_of(s, g, e, most);
    g->summed = sum != NULL;
    if (sum != NULL)
      add(sum, e);
  }
  trim_sums(g);
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Making the index
** ===================================================================
*/

/* Events that are not over where their segment ends are long ones from now on.
   False without memory. */
static bool keep_longs (tg_Scope *s, tg_ScopeWalk *w) {
  for (size_t i = 0; i < s->nrecords; i++) {
    const tg_ScopeEvent *e = &s->records[i];
    if (e->id != 0)
      continue;
    if (!room(&s->longs, s->nlongs, &s->clongs, sizeof *s->longs))
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
    if (t->events++ == 0)
      t->first = segment;
    t->latest = segment;
  }
}

static bool end_segment (tg_Scope *s, tg_ScopeWalk *w) {
  uint32_t i = s->nsegments - 1;
  note_timelines(s, i, w);
  return make_sums(s, &s->segments[i]) && keep_longs(s, w);
}

static uint32_t count_waiting (const tg_Waiting *all) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < all->used; i++)
    n += all->list[i].count;
  return n;
}

/* Notes what is live; all of it is long. */
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
  return true;
}

static bool new_segment (tg_Scope *s, const tg_ScopeWalk *w,
                         const tg_Reader *reader) {
  if (!room(&s->segments, s->nsegments, &s->csegments, sizeof *s->segments))
    return false;
  tg_ScopeSegment *g = &s->segments[s->nsegments++];
  memset(g, 0, sizeof *g);
  g->first = w->next_id;
  g->packets = s->packets;
  g->first_long = s->nlongs;
  g->now_ns = w->now_ns;
  g->charge_ns = w->charge_ns;
  if (w->now_ns > s->start_ns)
    g->start_ns = w->now_ns - s->start_ns;
  s->nrecords = 0;
  if (s->demand.min_duration_ns == 0) {   /* what a sieve holds, no copy has */
    g->reader = tg_reader_copy(reader);
    if (g->reader == NULL)
      return false;
  }
  return note_live(g, w);
}

/* How long a segment is to be that ends here. */
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

/* All packets, from the first segment on. False without memory. */
static bool take_all (tg_Scope *s, tg_ScopeWalk *w, Source *from) {
  tg_Packet p;
  uint64_t begin = 0, look = 0;
  while (w->status == TG_OK && next(s, from, &p)) {
    tg_scopewalk_take(w, &p);
    if (++s->packets < look || !tg_reader_between(from->reader)
        || !may_end(s, w, begin, &look))
      continue;
    if (w->status != TG_OK || !end_segment(s, w)
        || !new_segment(s, w, from->reader))
      return false;
    begin = s->packets;
  }
  return w->status == TG_OK;
}

/* What is damaged is shown as far as it goes. */
static tg_Status end_source (tg_Scope *s, const Source *from) {
  tg_Status status = tg_sieve_status(&from->sieve);
  if (status != TG_ERR_FORMAT)
    return status;
  s->damage = tg_reader_damage(from->reader);
  s->end_ns = tg_reader_time(from->reader);
  return s->damage != 0 ? TG_OK : status;
}

static tg_Status walk_all (tg_Scope *s, tg_ScopeWalk *w, Source *from) {
  w->now_ns = s->start_ns;
  tg_reader_watch(from->reader, tg_scopewalk_gone, w);
  if (!new_segment(s, w, from->reader) || !take_all(s, w, from))
    return TG_ERR_MEMORY;
  tg_Status status = end_source(s, from);
  if (s->end_ns < w->now_ns)
    s->end_ns = w->now_ns;
  tg_scopewalk_end(w, s->end_ns);
  if (!end_segment(s, w) || w->status != TG_OK)
    return TG_ERR_MEMORY;
  s->duration_ns = s->end_ns - s->start_ns;
  s->events = w->next_id - 1;
  return status;
}

static tg_Status make_index (tg_Scope *s) {
  tg_ScopeWalk w;
  Source from;
  start_walk(s, &w);
  tg_Status status = TG_ERR_MEMORY;
  if (open_source(s, NULL, &from))
    status = walk_all(s, &w, &from);
  close_source(&from);
  tg_scopewalk_free(&w);
  return status;
}

/* }================================================================== */

/*
** {==================================================================
** A look at the first packets
** ===================================================================
*/

/* Times after packets of one sort, in nanoseconds; longer ones at the end. */
typedef struct Times {
  uint32_t counts[SAMPLE_TIMES + 1];
  uint32_t all;
} Times;

static void count_time (Times *t, uint64_t ns) {
  t->counts[ns < SAMPLE_TIMES ? ns : SAMPLE_TIMES]++;
  t->all++;
}

static void limit_cost (const Times *t, uint64_t *cost) {
  uint32_t ns = 0, passed = t->counts[0], wanted = t->all / SAMPLE_PART;
  while (ns < SAMPLE_TIMES && passed <= wanted)
    passed += t->counts[++ns];
  if (t->all > 0 && *cost > ns)
    *cost = ns;
}

/* Packets of one event have one time, and none of them but the last has time
   after it. */
static void sample_times (const tg_Scope *s, Source *from, Times *enter,
                          Times *leave) {
  tg_Packet p;
  Times *t = NULL;
  uint64_t before_ns = 0;
  for (uint32_t n = 0; n < SAMPLE && next(s, from, &p); n++) {
    if (t != NULL && p.time_ns > before_ns)
      count_time(t, p.time_ns - before_ns);
    t = p.why == TG_WHY_ENTER ? enter : leave;
    before_ns = p.time_ns;
  }
}

static bool limit_costs (tg_Scope *s) {
  Source from;
  Times *times = tg_calloc(2, sizeof *times);
  bool ok = times != NULL && open_source(s, NULL, &from);
  if (ok) {
    sample_times(s, &from, &times[0], &times[1]);
    limit_cost(&times[0], &s->cost.enter_ns);
    limit_cost(&times[1], &s->cost.exit_ns);
    close_source(&from);
  }
  tg_free(times);
  return ok;
}

/* When the first main chunk is entered; the end if none is. */
static bool find_chunk (const tg_Scope *s, uint64_t *ns) {
  Source from;
  tg_Packet p;
  *ns = s->end_ns;
  if (!open_source(s, NULL, &from))
    return false;
  while (next(s, &from, &p)) {
    const tg_Function *f = tg_functions_find(s->stream->functions, p.function);
    if (p.why == TG_WHY_ENTER && !p.resumed && f != NULL
        && tg_scopekinds_chunk(f)) {
      *ns = p.time_ns;
      break;
    }
  }
  close_source(&from);
  return true;
}

/* The session begins there: as if nothing had been before. */
static bool begin_with_chunk (tg_Scope *s) {
  tg_Filter filter;
  tg_filter_init(&filter);
  if (s->demand.filter != NULL || !find_chunk(s, &filter.from_ns))
    return false;
  s->start_ns = filter.from_ns;
  filter.options.types = 0;
  bool ok = tg_demand_narrow(&s->demand, &filter);
  tg_filter_free(&filter);
  return ok;
}

/* The clock of a trace and its packets may differ by a tick. */
static bool begin_with_packet (tg_Scope *s) {
  Source from;
  tg_Packet p;
  if (!open_source(s, NULL, &from))
    return false;
  if (next(s, &from, &p) && p.time_ns < s->start_ns)
    s->start_ns = p.time_ns;
  close_source(&from);
  return true;
}

/* }================================================================== */

/* Packets come without their values being kept for others. */
static void ask_for_nothing (tg_Demand *d) {
  for (size_t i = 0; i < d->count; i++)
    d->list[i].types = 0;
  d->types = 0;
}

static bool start (tg_Scope *s, const tg_ScopeSource *source) {
  s->stream = tg_stream_pin(source->stream);
  if (!tg_cursor_place(&s->hold, &s->stream->store, source->start))
    tg_cursor_first(&s->hold, &s->stream->store);
  s->start = source->start;
  s->stop = source->stop;
  s->start_ns = source->start_ns;
  s->end_ns = source->end_ns;
  s->cost = source->cost;
  s->stride = source->stride;
  s->loaded = TG_INDEX_NONE;
  tg_scopekinds_init(&s->kinds, s->stream->functions, source->arguments);
  if (!tg_timelines_init(&s->timelines)
      || !tg_demand_copy(&s->demand, source->demand))
    return false;
  ask_for_nothing(&s->demand);
  return (source->from_chunk ? begin_with_chunk(s) : begin_with_packet(s))
         && limit_costs(s);
}

tg_Scope *tg_scope_new (const tg_ScopeSource *source, tg_Status *status) {
  tg_Scope *s = tg_calloc(1, sizeof *s);
  *status = TG_ERR_MEMORY;
  if (s == NULL)
    return NULL;
  if (start(s, source))
    *status = make_index(s);
  if (*status == TG_OK)
    return s;
  tg_scope_free(s);
  return NULL;
}

static void free_segment (tg_ScopeSegment *g) {
  tg_reader_free(g->reader);
  tg_free(g->live);
  tg_free(g->sums);
}

void tg_scope_free (tg_Scope *s) {
  if (s == NULL)
    return;
  for (uint32_t i = 0; i < s->nsegments; i++)
    free_segment(&s->segments[i]);
  tg_free(s->segments);
  tg_free(s->longs);
  tg_free(s->records);
  tg_free(s->slots);
  tg_scopekinds_free(&s->kinds);
  tg_timelines_free(&s->timelines);
  tg_demand_clear(&s->demand);
  tg_cursor_drop(&s->hold);
  tg_stream_unpin(s->stream);
  tg_free(s);
}

/*
** {==================================================================
** Reading a segment again
** ===================================================================
*/

uint32_t tg_scope_segment (const tg_Scope *s, uint64_t id) {
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

uint64_t tg_scope_segment_end (const tg_Scope *s, uint32_t segment) {
  return segment + 1 < s->nsegments ? s->segments[segment + 1].first
                                    : s->events + 1;
}

const tg_ScopeEvent *tg_scope_longs (const tg_Scope *s, uint32_t segment,
                                     size_t *count) {
  uint32_t first = s->segments[segment].first_long;
  uint32_t end = segment + 1 < s->nsegments
                 ? s->segments[segment + 1].first_long : s->nlongs;
  *count = end - first;
  return s->longs + first;
}

/* All that is live where the segment begins. */
static void put_known (const tg_Scope *s, const tg_ScopeSegment *g,
                       tg_ScopeWalk *w) {
  w->next_id = g->first;
  w->now_ns = g->now_ns;
  w->charge_ns = g->charge_ns;
  for (uint32_t i = 0; i < g->nlive; i++)
    tg_scopewalk_known(w, &s->longs[g->live[i]], i < g->nopen);
  tg_waiting_pass(&w->waiting);
}

static tg_Status take_segment (tg_Scope *s, uint32_t i, tg_ScopeWalk *w,
                               Source *from) {
  tg_Packet p;
  bool last = i + 1 == s->nsegments;
  const tg_ScopeSegment *g = &s->segments[i];
  uint64_t n = (last ? s->packets : g[1].packets) - g->packets;
  uint64_t skip = g->reader != NULL ? 0 : g->packets;
  while (skip > 0 && next(s, from, &p))
    skip--;
  tg_reader_watch(from->reader, tg_scopewalk_gone, w);
  while (n > 0 && w->status == TG_OK && next(s, from, &p)) {
    tg_scopewalk_take(w, &p);
    n--;
  }
  if (n > 0 && w->status == TG_OK) {
    tg_Status status = tg_sieve_status(&from->sieve);
    return status != TG_OK ? status : TG_ERR_FORMAT;  /* fewer than before */
  }
  if (last)
    tg_scopewalk_end(w, s->end_ns);
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

static tg_Status read_again (tg_Scope *s, uint32_t segment) {
  tg_ScopeWalk w;
  Source from;
  const tg_ScopeSegment *g = &s->segments[segment];
  s->loaded = segment;
  start_walk(s, &w);
  w.over = event_again;
  put_known(s, g, &w);
  tg_Status status = TG_ERR_MEMORY;
  if (open_source(s, g->reader, &from))
    status = take_segment(s, segment, &w, &from);
  close_source(&from);
  tg_scopewalk_free(&w);
  if (status == TG_OK
      && s->nrecords != tg_scope_segment_end(s, segment) - g->first)
    status = TG_ERR_FORMAT;
  return status == TG_OK ? fill_longs(s, segment) : status;
}

tg_Status tg_scope_load (tg_Scope *s, uint32_t segment,
                         const tg_ScopeEvent **events, size_t *count) {
  if (s->loaded != segment) {
    tg_Status status = read_again(s, segment);
    if (status != TG_OK) {
      s->loaded = TG_INDEX_NONE;
      return status;
    }
  }
  *events = s->records;
  *count = s->nrecords;
  return TG_OK;
}

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
