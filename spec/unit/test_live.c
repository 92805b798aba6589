/*
** test_live.c - who keeps memory, from the allocator to the sums: a meter's
** origins, their way through the stream, what is added up of it; against a list
** of all blocks that cannot be wrong.
*/
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/allocmeter.h"
#include "profile/live.h"
#include "stream/eventreader.h"
#include "stream/holdings.h"
#include "stream/marks.h"
#include "unit.h"

#define BLOCKS 4000
#define OWNERS 5
#define LINES 40            /* of each, 0 of no line: fewer than are told */
#define HOLDERS (OWNERS * LINES)
#define TIES 16

typedef struct Block {
  char *at;                 /* NULL: none */
  size_t size;
  uint32_t holder;          /* owner and line; HOLDERS: from before, or the
                               tracer's */
} Block;

typedef struct World {
  uint64_t seed, alarm;
  tg_AllocMeter *m;
  tg_Live live;
  Block blocks[BLOCKS];
  uint32_t owner;           /* who runs */
  uint32_t line;            /* and where it makes the next block */
  tg_AllocLines lines;
  uint64_t heap, most;      /* and the sums of owners whenever it was so */
  tg_Holding has[HOLDERS + 1], high[TIES][HOLDERS + 1];
  uint32_t ties;
} World;

/* Without sizes before blocks, as Lua's own does it. */
static void *allocator (void *ud, void *block, size_t osize, size_t nsize) {
  (void)ud;
  (void)osize;
  if (nsize > 0)
    return realloc(block, nsize);
  free(block);
  return NULL;
}

static uint32_t below (World *w, uint32_t n) {
  return unit_random(&w->seed) % n;
}

static void note_high (World *w) {
  if (w->heap > w->most)
    w->ties = 0;
  if (w->heap < w->most || w->ties == TIES)
    return;
  w->most = w->heap;
  memcpy(w->high[w->ties++], w->has, sizeof w->has);
}

/* As a session finds it in the program (tg_AllocAsker). */
static uint32_t made (void *ud, const tg_AllocMade *made) {
  World *w = ud;
  const char *pc = (const char *)w + w->line;
  if (w->line == 0 || made->count == 0)
    return 0;
  tg_AllocLine *line = tg_alloclines_find(&w->lines, pc, w->owner);
  if (line == NULL)
    line = tg_alloclines_add(&w->lines, (tg_AllocLine){
      .pc = pc, .function = w->owner, .line = w->line
    });
  if (line == NULL)
    return 0;
  line->count += made->count;
  line->bytes += made->bytes;
  return line->place;
}

static void gone (void *ud, const void *block) {
  (void)ud;
  (void)block;
}

/* The list of blocks by the rules: a block that grows is its grower's. */
static void set (World *w, Block *b, size_t size) {
  size_t before = b->size;
  tg_Holding *of = &w->has[b->holder];
  if (before > 0) {
    of->blocks--;
    of->bytes -= before;
  }
  if (size > before)
    b->holder = w->m->own ? HOLDERS : w->owner * LINES + w->line;
  if (size > 0) {
    w->has[b->holder].blocks++;
    w->has[b->holder].bytes += size;
  }
  b->at = tg_allocmeter_call(w->m, b->at, before, size);
  b->size = size;
  w->heap += size - before;
  note_high(w);
}

/* Lines are read back as they were written, and what is behind them. */
static void tells_lines (void) {
  static uint8_t bytes[32 << 10];
  tg_Origins o = {.every = 7, .nparts = 1,
                  .parts = {{.origin = 3, .now = {2, 200}}}};
  tg_AllocLines l = {.count = 0};
  for (uint32_t i = 0; i < TG_ALLOCLINES_MOST; i++) {
    tg_AllocLine line = {.pc = &bytes[i], .function = i, .line = 1000 * i,
                         .count = 1, .bytes = 1u << i % 30};
    UNIT_CHECK(tg_alloclines_add(&l, line) != NULL);
  }
  UNIT_CHECK(tg_alloclines_add(&l, (tg_AllocLine){.line = 1}) == NULL);
  UNIT_CHECK(tg_alloclines_find(&l, &bytes[7], 7) == &l.list[7]);
  UNIT_CHECK(tg_alloclines_find(&l, &bytes[6], 7) == NULL);
  UNIT_CHECK(tg_holdings_room(&o, &l) < sizeof bytes);
  uint32_t told;
  uint8_t *end = tg_holdings_put(bytes, &o, &l, 0, &told);
  tg_Holdings h;
  tg_AllocLine line;
  UNIT_CHECK(tg_holdings_read(&h, (tg_ByteReader){bytes, end, false}, 0));
  UNIT_CHECK(h.origin == 3 && h.now.blocks == 2 && h.now.bytes == 200);
  for (uint32_t i = 0; i < TG_ALLOCLINES_MOST; i++) {
    UNIT_CHECK(tg_holdings_line(&h, &line) && line.function == i
               && line.line == 1000 * i && line.count == 1
               && line.bytes == 1u << i % 30);
  }
  UNIT_CHECK(!tg_holdings_line(&h, &line));
  tg_alloclines_free(&l);
}

/* The line that the bytes of an event tell of; 0: none. */
static uint32_t line_in (const tg_Event *e) {
  tg_Allocations a = tg_event_allocations(e->values);
  tg_Holdings h;
  tg_AllocLine line;
  UNIT_CHECK(tg_holdings_read(&h, a.held, a.above));
  return tg_holdings_only(&h, a.count, a.allocated, &line) ? line.line : 0;
}

/* A reader reads what was written. */
static void read_back (World *w, const uint8_t *bytes, const uint8_t *end) {
  size_t size = (size_t)(end - bytes);
  const uint8_t *origin = bytes;
  tg_Event e;
  UNIT_CHECK(tg_event_decode(&origin, bytes, size, &e) == size);
  UNIT_CHECK(tg_event_decode(&origin, bytes, size - 1, &e) == 0);
  tg_event_decode(&origin, bytes, size, &e);
  tg_Packet k = {.why = TG_WHY_MARK, .mark = TG_MARK_ALLOCATIONS,
                 .values = e.values};
  UNIT_CHECK(tg_live_add(&w->live, &k, w->owner * LINES + line_in(&e)));
}

static void tell_part (World *w, const tg_OriginPart *part, tg_Holding has,
                       uint64_t heap, bool again) {
  uint8_t bytes[256], *p = tg_put32(bytes, TG_EV_ALLOCATIONS | TG_EVF_HELD);
  tg_AllocLine line = tg_holdings_line_of(part, &w->lines);
  if (again)
    line.count = line.bytes = 0;
  p = tg_putvar(tg_putvar(tg_putvar(p, 0), 0), 0);
  p = tg_putvar(tg_putvar(p, heap), 0);
  uint8_t *end = tg_holdings_put_part(p, &w->m->origins, part, has, &line);
  UNIT_CHECK(end - p <= (ptrdiff_t)TG_HOLDINGS_PART);
  read_back(w, bytes, end);
}

/* As the session writes it. */
static void tell (World *w) {
  static uint8_t bytes[128 << 10];
  tg_AllocMeter *m = w->m;
  uint64_t before = m->told_heap, high = before > m->heap ? before : m->heap;
  uint64_t above = m->peak > high ? m->peak - high : 0;
  tg_Holding has;
  uint32_t told;
  tg_origins_settle(&m->origins);
  for (uint32_t i = 0; i < m->origins.nparts; i++) {
    if (tg_holdings_before(&m->origins, i, above, &has))
      tell_part(w, &m->origins.parts[i], has, before, false);
  }
  uint8_t *p = tg_put32(bytes, TG_EV_ALLOCATIONS | TG_EVF_HELD);
  p = tg_putvar(p, m->total.allocations - m->told.allocations);
  p = tg_putvar(p, m->total.allocated - m->told.allocated);
  p = tg_putvar(p, m->total.freed - m->told.freed);
  p = tg_putvar(tg_putvar(p, m->heap), above);
  UNIT_CHECK(tg_holdings_room(&m->origins, &w->lines) < sizeof bytes - 64);
  p = tg_holdings_put(p, &m->origins, &w->lines, above, &told);
  read_back(w, bytes, p);
  for (uint32_t i = 0; i < m->origins.nparts; i++) {
    if (tg_holdings_behind(&m->origins, i, above, &has))
      tell_part(w, &m->origins.parts[i], has, m->heap, true);
  }
  tg_origins_told(&m->origins, told);
  tg_alloclines_told(&w->lines);
  tg_allocmeter_asked(m);
  if (tg_origins_due(&m->origins) > 0)
    tell(w);
}

static bool same (tg_Holding a, tg_Holding b) {
  return a.blocks == b.blocks && a.bytes == b.bytes;
}

/* What an owner has on all of its lines: as a reader knows, and as it is. */
static tg_Holding told_of (const World *w, uint32_t owner) {
  tg_Holding sum = {0, 0};
  for (uint32_t i = owner * LINES; i < (owner + 1) * LINES; i++)
    tg_holding_add(&sum, tg_live_of(&w->live, i).now);
  return sum;
}

static tg_Holding is_of (const World *w, uint32_t owner) {
  tg_Holding sum = {0, 0};
  for (uint32_t i = owner * LINES; i < (owner + 1) * LINES; i++)
    tg_holding_add(&sum, w->has[i]);
  return sum;
}

static bool now_agrees (const World *w) {
  bool ok = true;
  for (uint32_t i = 0; i < HOLDERS; i++)
    ok = ok && same(tg_live_of(&w->live, i).now, w->has[i]);
  return ok;
}

static bool peak_agrees (const World *w) {
  for (uint32_t t = 0; t < w->ties; t++) {
    uint32_t i = 0;
    while (i < HOLDERS && same(tg_live_of(&w->live, i).peak, w->high[t][i]))
      i++;
    if (i == HOLDERS)
      return true;
  }
  return false;
}

static World *new_world (uint64_t seed, uint64_t every) {
  World *w = tg_calloc(1, sizeof *w);
  w->seed = seed;
  w->m = tg_allocmeter_new(allocator, NULL);
  for (uint32_t i = 0; i < BLOCKS / 20; i++)
    w->blocks[i] = (Block){
      tg_allocmeter_call(w->m, NULL, 5, 300), 300, HOLDERS
    };
  w->heap = w->most = 300 * (BLOCKS / 20);
  tg_allocmeter_begin(w->m, &w->alarm, every);
  w->m->origins.seed = seed;
  tg_allocmeter_base(w->m, w->heap);
  w->m->asker = (tg_AllocAsker){w, made, 7, gone};
  return w;
}

static void end_world (World *w) {
  for (uint32_t i = 0; i < BLOCKS; i++)
    free(w->blocks[i].at);
  tg_allocmeter_end(w->m);
  tg_live_free(&w->live);
  tg_alloclines_free(&w->lines);
  tg_free(w);
}

/* Much is made, then much goes, as collectors work. */
static void live_a_little (World *w, bool dying, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    Block *b = &w->blocks[below(w, BLOCKS)];
    w->m->own = below(w, 30) == 0;
    w->line = below(w, 3) == 0 ? below(w, LINES) : w->line;
    size_t size = below(w, dying ? 4 : 40) == 0 ? 0 : 1 + below(w, 900);
    set(w, b, dying && below(w, 2) == 0 ? 0 : size);
  }
  w->m->own = false;
}

static void agrees_with_a_list_of_all_blocks (void) {
  World *w = new_world(11, 0);
  for (int i = 0; i < 3000; i++) {
    bool many = below(w, 200) == 0;
    live_a_little(w, below(w, 3) == 0, many ? 9000 : below(w, 40));
    tell(w);
    w->owner = below(w, OWNERS);
    UNIT_CHECK(now_agrees(w));
  }
  UNIT_CHECK(w->m->origins.norigins <= BLOCKS + 1);
  UNIT_CHECK(peak_agrees(w));
  UNIT_CHECK(w->live.told && !w->live.partial && w->live.every == 0);
  end_world(w);
}

/* A block like each of 40 bytes is one of 'every' / 40. Five standard errors,
   with the same numbers each time. */
static void samples_are_right_on_average (void) {
  World *w = new_world(5, 4000);
  for (int i = 0; i < 4000; i++) {
    live_a_little(w, below(w, 3) == 0, below(w, 200));
    tell(w);
    w->owner = below(w, OWNERS);
  }
  for (uint32_t i = 0; i < OWNERS; i++) {
    double told = (double)told_of(w, i).bytes;
    double is = (double)is_of(w, i).bytes;
    UNIT_CHECK(is > 50000 && fabs(told - is) < 5 * sqrt(is * 4000));
    UNIT_CHECK(told > 0);
  }
  UNIT_CHECK(w->live.every == 4000);
  end_world(w);
}

static void counts_samples_for_all (void) {
  World *w = new_world(3, 10000);
  uint64_t n = 0, bytes = 0;
  for (int i = 0; i < 400000; i++) {
    size_t size = i % 100 == 0 ? 20000 : 40;
    void *p = tg_allocmeter_call(w->m, NULL, 5, size);
    tg_allocmeter_call(w->m, p, size, 0);
    n++;
    bytes += size;
  }
  const tg_AllocCounts *c = &w->m->total;
  double off = fabs((double)c->allocated - (double)bytes);
  UNIT_CHECK(off < 5 * sqrt((double)bytes * 10000));
  UNIT_CHECK(c->allocated == c->freed);
  UNIT_CHECK(fabs((double)c->allocations - (double)n) < 0.2 * (double)n);
  UNIT_CHECK(w->m->heap == w->heap);
  end_world(w);
}

/* Addresses that are used again without a word are another allocator's. */
static void forgets_what_it_cannot_know (void) {
  World *w = new_world(2, 0);
  live_a_little(w, false, 500);
  tell(w);
  Block *b = w->blocks;
  while (b->holder == HOLDERS || b->at == NULL)
    b++;
  w->m->counts = false;
  char *at = b->at;
  w->m->counts = true;
  tg_origins_made(&w->m->origins, at, 10, 1, 0);
  UNIT_CHECK(w->m->origins.forgotten && !w->m->origins.on);
  tell(w);
  UNIT_CHECK(w->live.partial);
  for (uint32_t i = 0; i < HOLDERS; i++)
    UNIT_CHECK(same(tg_live_of(&w->live, i).now, (tg_Holding){0, 0}));
  end_world(w);
}

/* A block that the table has no room for is nobody's; where a change cannot be
   noted all is forgotten. No sum is too large then. */
static void bears_memory_that_is_refused (void) {
  uint32_t forgotten = 0, lacking = 0;
  for (uint64_t nth = 1; nth <= 12; nth++) {
    World *w = new_world(40 + nth, 0);
    for (int i = 0; i < 40; i++) {      /* origins whose blocks go below */
      w->owner = (uint32_t)i % OWNERS;
      live_a_little(w, false, 20);
      tell(w);
    }
    uint32_t owner = w->owner;
    tg_alloc_fail(nth);
    live_a_little(w, false, 8000);
    tg_alloc_fail(0);
    tell(w);
    for (uint32_t i = 0; i < OWNERS; i++) {
      tg_Holding now = told_of(w, i), is = is_of(w, i);
      UNIT_CHECK(now.bytes <= is.bytes);
      UNIT_CHECK(i == owner || w->live.partial || same(now, is));
      lacking += now.bytes < is.bytes;
    }
    forgotten += w->live.partial;
    end_world(w);
  }
  UNIT_CHECK(forgotten > 0 && lacking > 0);
}

/* Nobody's sum is below 0, whatever the bytes are. */
static void bears_any_bytes (void) {
  uint64_t seed = 17;
  tg_Live live = {0};
  for (int i = 0; i < 20000; i++) {
    uint8_t bytes[64] = {1, 1, 1, 1, 1, 0};
    uint32_t n = 7 + unit_random(&seed) % 50;
    bytes[4] = (uint8_t)(unit_random(&seed) % 3);
    bytes[5] = (uint8_t)(unit_random(&seed) % 4 << 4);
    for (uint32_t k = 6; k < n; k++)
      bytes[k] = (uint8_t)(unit_random(&seed) % (k % 3 ? 12 : 256));
    tg_Packet k = {.why = TG_WHY_MARK, .mark = TG_MARK_ALLOCATIONS,
                   .values = {.data = bytes, .size = n}};
    UNIT_CHECK(tg_live_add(&live, &k, unit_random(&seed) % 3));
  }
  UNIT_CHECK(live.nowners < 64);
  tg_live_free(&live);
}

int main (void) {
  UNIT_RUN(tells_lines);
  UNIT_RUN(agrees_with_a_list_of_all_blocks);
  UNIT_RUN(samples_are_right_on_average);
  UNIT_RUN(counts_samples_for_all);
  UNIT_RUN(forgets_what_it_cannot_know);
  UNIT_RUN(bears_memory_that_is_refused);
  UNIT_RUN(bears_any_bytes);
  return UNIT_END();
}
