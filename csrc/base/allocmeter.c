/*
** allocmeter.c - see allocmeter.h. Called by Lua, in place of its allocator, on
** the thread that runs the state; nothing here fails or touches errno.
*/
#include "base/allocmeter.h"

#include "base/alloc.h"

tg_AllocMeter *tg_allocmeter_new (tg_Allocator *allocator, void *ud,
                                  const void *home, uint64_t *alarm) {
  tg_AllocMeter *m = tg_calloc(1, sizeof *m);
  if (m != NULL) {
    m->allocator = allocator;
    m->ud = ud;
    m->home = home;
    m->alarm = alarm;
    m->counts = true;
  }
  return m;
}

void tg_allocmeter_base (tg_AllocMeter *m, uint64_t heap) {
  m->peak += heap - m->heap;
  m->told_heap += heap - m->heap;
  m->heap = heap;
  m->based = true;
}

void tg_allocmeter_free (tg_AllocMeter *m) {
  tg_free(m);
}

/* 'alarm' is in the session, which may be gone before the state is. */
void tg_allocmeter_leave (tg_AllocMeter *m) {
  m->counts = false;
  m->alarm = NULL;
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
  if ((int64_t)(m->heap - m->peak) > 0)
    m->peak = m->heap;
  if (!m->due && !m->own) {
    m->due = true;
    *m->alarm = 0;
  }
}

/* Whether this frees the block in which the state itself is: the last that is
   freed by lua_close (close_state in lstate.c), whatever it contains. */
static bool ends_state (const tg_AllocMeter *m, const void *block,
                        size_t osize) {
  uintptr_t p = (uintptr_t)block, home = (uintptr_t)m->home;
  return home >= p && home - p < osize;
}

/* Of a new object 'osize' is its kind and no size. To free is to ask for 0
   bytes, and cannot be refused. A state that ends while the meter is still in
   place has lost whoever would take it out. */
void *tg_allocmeter_call (void *ud, void *block, size_t osize, size_t nsize) {
  tg_AllocMeter *m = ud;
  tg_Allocator *allocator = m->allocator;
  size_t before = block != NULL ? osize : 0;
  if (tg_unlikely(nsize == 0 && ends_state(m, block, before))) {
    void *theirs = m->ud;
    tg_free(m);
    return allocator(theirs, block, osize, nsize);
  }
  void *result = allocator(m->ud, block, osize, nsize);
  if (m->counts && before != nsize && (nsize == 0 || result != NULL))
    count(m, before, nsize);
  return result;
}
