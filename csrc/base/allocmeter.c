/*
** allocmeter.c - see allocmeter.h. Called by Lua, in place of its allocator, on
** the thread that runs the state; nothing here fails or touches errno.
*/
#include "base/allocmeter.h"

#include <stdatomic.h>

#include "base/alloc.h"

static tg_AllocMeter *_Atomic all;

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

void tg_allocmeter_begin (tg_AllocMeter *m, uint64_t *alarm) {
  tg_assert(!m->counts);
  m->alarm = alarm;
  m->counts = true;
  m->own = m->based = false;
  tg_allocmeter_asked(m);
}

/* 'alarm' is in the session, which may be gone before the state is. */
void tg_allocmeter_end (tg_AllocMeter *m) {
  m->counts = false;
  m->watched = NULL;
  m->alarm = NULL;
}

void tg_allocmeter_base (tg_AllocMeter *m, uint64_t heap) {
  m->peak += heap - m->heap;
  m->told_heap += heap - m->heap;
  m->heap = heap;
  m->based = true;
}

/* A block that becomes larger counts as one allocation of what is added: what
   it had is neither new nor given back. Once it is known that something has
   changed there is no need to say so again. */
static void count (tg_AllocMeter *m, size_t before, size_t after) {
  tg_AllocCounts *c = m->own ? &m->aside : &m->total;
  if (after > before) {
    c->allocations++;
    c->allocated += after - before;
  }
  else
    c->freed += before - after;
  m->heap += after - before;
  if ((int64_t)(m->heap - m->peak) > 0)     /* it may be relative */
    m->peak = m->heap;
  if (!m->due && !m->own && m->based) {
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

/* Of a new object 'osize' is its kind and no size. To free is to ask for 0
   bytes, and cannot be refused. */
void *tg_allocmeter_call (void *ud, void *block, size_t osize, size_t nsize) {
  tg_AllocMeter *m = ud;
  size_t before = block != NULL ? osize : 0;
  void *result = m->allocator(m->ud, block, osize, nsize);
  if (m->counts && before != nsize && (nsize == 0 || result != NULL))
    count(m, before, nsize);
  return result;
}
