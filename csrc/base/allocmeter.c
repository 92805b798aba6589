/*
** allocmeter.c - see allocmeter.h. Called by Lua, in place of its allocator, on
** the thread that runs the state; nothing here fails or touches errno.
*/
#include "base/allocmeter.h"

#include <limits.h>
#include <stdatomic.h>

#include "base/alloc.h"

static tg_AllocMeter *_Atomic all;

#define NOWHERE INT_MAX
#define TABLE 5             /* LUA_TTABLE, the 'osize' of a new one */

static _Atomic int tables_at = NOWHERE;

void tg_allocmeter_tables (int at) {
  atomic_store_explicit(&tables_at, at, memory_order_relaxed);
}

/* What the allocator was asked for, and has answered. */
typedef struct Request {
  const void *block;
  void *result;
  size_t before, after;
} Request;

tg_AllocMeter *tg_allocmeter_new (tg_Allocator *allocator, void *ud) {
  tg_AllocMeter *m = tg_calloc(1, sizeof *m);
  if (m == NULL)
    return NULL;
  m->allocator = allocator;
  m->ud = ud;
  m->next = atomic_load(&all);
  while (!atomic_compare_exchange_weak(&all, &m->next, m))
    continue;
  return m;
}

/* The process may be copied at any moment by another thread, which then sees
   all that was written before something, and nothing that was written after
   it. */
static void set_busy (tg_AllocMeter *m, bool busy) {
  if (!busy)
    atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&m->busy, busy, memory_order_relaxed);
  if (busy)
    atomic_signal_fence(memory_order_seq_cst);
}

void tg_allocmeter_begin (tg_AllocMeter *m, uint64_t *alarm, uint64_t every) {
  tg_assert(!m->counts);
  set_busy(m, true);
  m->alarm = alarm;
  m->counts = true;
  m->own = m->based = false;
  tg_origins_begin(&m->origins, every);
  tg_allocmeter_asked(m);
  set_busy(m, false);
}

/* 'alarm' is in the session, which may be gone before the state is. */
void tg_allocmeter_end (tg_AllocMeter *m) {
  set_busy(m, true);
  m->counts = false;
  m->watched = NULL;
  m->alarm = NULL;
  m->asker = (tg_AllocAsker){.ud = NULL};
  tg_origins_end(&m->origins);
  set_busy(m, false);
}

void tg_allocmeter_base (tg_AllocMeter *m, uint64_t heap) {
  m->peak += heap - m->heap;
  m->told_heap += heap - m->heap;
  m->heap = heap;
  m->based = true;
}

/* How many blocks this one stands for, of what is made or freed now; 0: it is
   none of those that are sampled. What is ours has no origin. */
static uint32_t note (tg_AllocMeter *m, const Request *r) {
  tg_Origins *o = &m->origins;
  uint32_t was = 0, is = 0;
  if (r->after > r->before) {
    if (r->before > 0)
      tg_origins_freed(o, r->block, r->before);
    is = m->own ? 0 : tg_origins_weigh(o, r->after);
  }
  else if (r->after == 0)
    was = tg_origins_freed(o, r->block, r->before);
  else
    was = tg_origins_shrunk(o, r->block, r->result, r->before - r->after);
  return m->own || o->every == 0 ? 1 : was + is;
}

/* Where what is made is from: what is the program's own, and was met by chance
   if that decides. */
static uint32_t place_of (tg_AllocMeter *m, const Request *r,
                          uint32_t blocks) {
  if (m->asker.made == NULL || m->own
      || (blocks == 0 && m->latest.since != 0))
    return 0;
  m->latest.block = r->block;
  m->latest.count = blocks;
  m->latest.bytes = (r->after - r->before) * (uint64_t)blocks;
  return m->asker.made(m->asker.ud, &m->latest);
}

static void add_made (tg_AllocMeter *m, const Request *r, uint32_t blocks) {
  uint32_t place = place_of(m, r, blocks);
  if (!m->own)
    tg_origins_made(&m->origins, r->result, r->after, blocks, place);
}

/* A block that becomes larger counts as one allocation of what is added: what
   it had is neither new nor given back. Once it is known that something has
   changed there is no need to say so again. */
static void count (tg_AllocMeter *m, const Request *r) {
  tg_AllocCounts *c = m->own ? &m->aside : &m->total;
  uint32_t blocks = note(m, r);
  if (r->after > r->before) {
    c->allocations += blocks;
    c->allocated += (r->after - r->before) * (uint64_t)blocks;
  }
  else
    c->freed += (r->before - r->after) * (uint64_t)blocks;
  if (r->after > r->before)
    add_made(m, r, blocks);
  else if (m->asker.gone != NULL && r->after == 0
           && r->before == m->asker.size)
    m->asker.gone(m->asker.ud, r->block);
  m->heap += r->after - r->before;
  if ((int64_t)(m->heap - m->peak) > 0) {   /* it may be relative */
    m->peak = m->heap;
    tg_origins_rise(&m->origins);
  }
  if (!m->due && !m->own && m->based && blocks > 0) {
    m->due = true;
    *m->alarm = 0;
  }
  tg_allocmeter_look(m);
}

void tg_allocmeter_watch (tg_AllocMeter *m, const uint8_t *three,
                          void (*changed) (void *ud), void *ud) {
  m->changed = changed;
  m->watcher = ud;
  m->seen = UINT32_MAX;         /* as none is: it is called once at least */
  m->watched = three;
}

/* A new table, or what follows one. The words around 'frame' are others' and
   may be anything, and nothing but their bits is kept. */
#if defined(__has_feature) || defined(__SANITIZE_ADDRESS__)
__attribute__((no_sanitize("address")))
#endif
static void note_table (tg_AllocMeter *m, void *const *frame, bool is_table) {
  if (!is_table) {
    m->latest.since++;
    return;
  }
  int at = atomic_load_explicit(&tables_at, memory_order_relaxed);
  m->latest.table = at != NOWHERE ? frame[at] : NULL;
  m->latest.since = 0;
  if (tg_unlikely(m->probe != NULL))
    m->probe(m->watcher, frame);
}

/* Of a new object 'osize' is its kind and no size. To free is to ask for 0
   bytes, and cannot be refused. All registers that callers keep are on the
   stack meanwhile, at places that are always the same. */
void *tg_allocmeter_call (void *ud, void *block, size_t osize, size_t nsize) {
  __builtin_unwind_init();
  tg_AllocMeter *m = ud;
  Request r = {block, NULL, block != NULL ? osize : 0, nsize};
  if (nsize > r.before)
    note_table(m, __builtin_frame_address(0), block == NULL && osize == TABLE);
  r.result = m->allocator(m->ud, block, osize, nsize);
  if (m->counts && (r.before != nsize || r.result != block)
      && (nsize == 0 || r.result != NULL)) {
    set_busy(m, true);
    count(m, &r);
    set_busy(m, false);
  }
  return r.result;
}
