/* tracedheap.c - see tracedheap.h. */
#include "peek/tracedheap.h"

#include "base/alloc.h"
#include "heap/links.h"
#include "profile/allocways.h"

void tg_tracedheap_fork (const tg_MemoryTrace *t, tg_AtFork side) {
  if (t->options != NULL)
    tg_store_fork(&t->stream->store, side);
}

/* The block of an object begins with it; that of a coroutine with bytes that
   are the program's (LUA_EXTRASPACE; LX in lstate.c). */
static const void *block_of (const tg_Heap *h, uint32_t object) {
  uint64_t extra = h->kinds[object] == TG_OBJECT_THREAD ? LUA_EXTRASPACE : 0;
  return (const void *)(uintptr_t)(h->at[object] - extra);
}

/* The way of each object; NULL without memory. */
static uint32_t *find_ways (tg_AllocWays *ways, const tg_AddressTable *t,
                            const tg_Heap *h) {
  uint32_t *list = tg_malloc(((size_t)h->count + 1) * sizeof *list);
  for (uint32_t i = 0; list != NULL && i < h->count; i++) {
    const tg_AddressEntry *e = tg_addresstable_find(t, block_of(h, i));
    list[i] = e != NULL ? tg_allocways_use(ways, e->origin) : TG_NO_WAY;
  }
  return list;
}

static bool set_makers (const tg_AllocWays *ways, const uint32_t *list,
                        uint32_t count, tg_Graph *g) {
  for (uint32_t i = 0; i < count; i++) {
    tg_MakerId maker = tg_allocways_maker(ways, list[i]);
    if (maker != 0
        && !tg_makers_set(&g->makers, i + TG_FIRST_OBJECT, maker))
      return false;
  }
  return true;
}

static bool add (tg_AllocWays *ways, tg_Reader *r, const tg_MemoryTrace *t,
                 const tg_Heap *heap, tg_Graph *g) {
  if (!tg_allocways_read(ways, r, t->stop))
    return false;
  uint32_t *list = find_ways(ways, &t->origins->table, heap);
  bool done = list != NULL && tg_allocways_put(ways, g)
              && set_makers(ways, list, heap->count, g);
  tg_free(list);
  return done;
}

/* No values of calls are asked for, so none is decoded. The reader is not
   freed: the program's memory, which it pins, goes with the child. */
bool tg_tracedheap_add (const tg_MemoryTrace *t, const tg_Heap *heap,
                        tg_Graph *g) {
  tg_AllocWays ways = {.nways = 0};
  tg_Selection selection = {0};
  tg_Reader *r = NULL;
  if (t->options == NULL)
    return true;
  if (tg_selection_add(&selection, t->options)) {
    selection.types &= TG_TYPE_ALLOCATIONS;
    r = tg_reader_new(t->stream, t->start, &selection);
  }
  bool done = r != NULL && add(&ways, r, t, heap, g);
  tg_allocways_free(&ways);
  tg_selection_clear(&selection);
  return done;
}
