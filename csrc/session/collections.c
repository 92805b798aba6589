/*
** collections.c - see collections.h. 'look' runs in the state's allocator, in
** the middle of a collection: it reads bytes and the clock, and nothing else.
** The rest is on the same thread, as allocations.c, which calls it. Without
** memory nothing is told.
*/
#include "session/collections.h"

#include <string.h>

#include "base/alloc.h"
#include "base/allocmeter.h"
#include "direct/collector.h"
#include "stream/marks.h"
#include "stream/values.h"

/* Cycles between two events: of more than these the last is as long as all that
   follow. */
#define CYCLES 16

/* The most bytes that a MARK takes, with a TIME before it. */
#define ONE (64u + TG_TIME_SIZE)

typedef struct Cycle {
  uint64_t from, to;            /* ticks */
  uint64_t before, after;       /* bytes of the heap */
  const char *kind;
} Cycle;

struct tg_Collections {
  const tg_AllocMeter *meter;   /* borrows */
  tg_Collector last;            /* as it was when it was last looked at */
  bool works;                   /* then; since: */
  uint64_t from, before;
  uint64_t allocations;         /* so many had been made */
  Cycle cycles[CYCLES];         /* to be told */
  uint32_t n;
};

/* The meter has it, as what it tells; NULL: nobody asks. */
static tg_Collections *collections_of (const tg_Session *s) {
  return (s->memory.meter != NULL) ? s->memory.meter->watcher : NULL;
}

/* ---- in the allocator ---- */

static void start (tg_Collections *k, uint64_t now) {
  k->works = true;
  k->from = now;
  k->before = k->meter->heap;
  k->allocations = k->meter->total.allocations;
}

/* In one go: the program has made nothing meanwhile, but for the one block with
   which it was seen that the cycle is over. */
static const char *kind_of (const tg_Collections *k) {
  if (k->last.mode != 0)
    return "generational";
  return k->meter->total.allocations - k->allocations <= 1 ? "full"
                                                           : "incremental";
}

static void finish (tg_Collections *k, uint64_t now) {
  k->works = false;
  if (!k->meter->based)
    return;                     /* the heap's size is not known yet */
  Cycle c = {k->from, now, k->before, k->meter->heap, kind_of(k)};
  if (k->n == CYCLES) {
    c.from = k->cycles[CYCLES - 1].from;
    c.before = k->cycles[CYCLES - 1].before;
    k->n--;
  }
  k->cycles[k->n++] = c;
}

/* A state that comes before the last one is the next cycle's. One in which
   nothing was freed shows by the colour alone. */
static void look (void *ud) {
  tg_Collections *k = ud;
  tg_Collector c = tg_collector_read(k->meter->watched);
  bool works = tg_collector_works(c), was = k->works;
  bool again = works && was && c.state < k->last.state;
  bool unseen = !works && !was && c.colour != k->last.colour;
  if (works != was || again || unseen) {
    uint64_t now = tg_clock_ticks();
    if (unseen)
      start(k, now);
    if (k->works)
      finish(k, now);
    if (works)
      start(k, now);
  }
  k->last = c;
}

/* ---- for allocations.c ---- */

void tg_collections_begin (tg_Session *s) {
  tg_assert(s->memory.meter != NULL && collections_of(s) == NULL);
  if (!s->host.direct || !tg_collector_known())
    return;
  tg_Collections *k = tg_calloc(1, sizeof *k);
  if (k == NULL)
    return;
  const uint8_t *at = tg_collector_at(s->host.main);
  k->meter = s->memory.meter;
  k->last = tg_collector_read(at);
  k->works = tg_collector_works(k->last);
  k->from = tg_clock_ticks();
  tg_allocmeter_watch(s->memory.meter, at, look, k);
  k->before = s->memory.meter->heap;
}

void tg_collections_end (tg_AllocMeter *m) {
  tg_free(m->watcher);
  m->watcher = NULL;
}

/* One more may be found to be over when it comes to that. */
size_t tg_collections_room (const tg_Session *s) {
  const tg_Collections *k = collections_of(s);
  return (k != NULL) ? (k->n + 1) * (size_t)ONE : 0;
}

static uint8_t *put_integer (uint8_t *p, uint64_t n) {
  *p = TG_GRIP_INT;
  return tg_putvar(p + 1, n << 1);      /* zigzag of what is not negative */
}

/* A list of three values (values.h): kind, bytes before, bytes after. */
static uint8_t *put_values (uint8_t *p, const Cycle *c) {
  size_t length = strlen(c->kind);
  uint8_t *size = p;
  p = tg_putvar(p + 4, 3);
  *p++ = (uint8_t)(TG_GRIP_SMALLSTR + length);
  memcpy(p, c->kind, length);
  p = put_integer(put_integer(p + length, c->before), c->after);
  tg_put32(size, (uint32_t)(p - size - 4));
  return p;
}

static void put_cycle (tg_Writer *r, const Cycle *c, uint64_t at) {
  uint64_t ticks = (c->to > c->from) ? c->to - c->from : 0;
  double ns = (double)ticks * r->stream->clock.ns_per_tick;
  tg_writer_time(r, at);
  uint8_t *p = tg_writer_head(r, r->p, TG_EV_MARK | TG_EVF_NUMBER
                                       | TG_EVF_VALUES, at);
  p = tg_put64(tg_put32(p, TG_MARK_COLLECTION), (uint64_t)ns);
  tg_writer_end(r, put_values(p, c));
}

/* Each stands where it was over, but never before what was written last. */
void tg_collections_note (tg_Session *s, uint64_t now) {
  tg_Collections *k = collections_of(s);
  tg_Writer *r = &s->writer;
  if (k == NULL)
    return;
  tg_assert((size_t)(r->lim - r->p) >= k->n * (size_t)ONE);
  for (uint32_t i = 0; i < k->n; i++) {
    uint64_t at = k->cycles[i].to < now ? k->cycles[i].to : now;
    put_cycle(r, &k->cycles[i], at > r->last ? at : r->last);
  }
  k->n = 0;
}
