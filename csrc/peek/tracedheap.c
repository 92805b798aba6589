/* tracedheap.c - see tracedheap.h. */
#include "peek/tracedheap.h"

#include "base/alloc.h"
#include "heap/links.h"
#include "host/life.h"
#include "profile/allocways.h"
#include "recording/open.h"

static bool asks (const tg_HeapTracer *t) {
  return t->trace.options != NULL || t->main != NULL;
}

/* Hosts come before streams (atfork.h). Who has them for long is a process that
   exits: then nothing is sought. In the child nobody waits for them. */
void tg_tracedheap_fork (tg_HeapTracer *t, tg_AtFork side) {
  if (side == TG_ATFORK_BEFORE && t->main != NULL && !tg_life_hold())
    t->main = NULL;
  if (asks(t))
    tg_stream_fork(side);
  if (side == TG_ATFORK_PARENT && t->main != NULL)
    tg_life_let();
}

/* ---- ways ---- */

/* The block of an object begins with it; that of a coroutine with bytes that
   are the program's (LUA_EXTRASPACE; LX in lstate.c). */
static const void *block_of (const tg_Heap *h, uint32_t object) {
  uint64_t extra = h->kinds[object] == TG_OBJECT_THREAD ? LUA_EXTRASPACE : 0;
  return (const void *)(uintptr_t)(h->at[object] - extra);
}

static uint32_t way_of (tg_AllocWays *ways, const tg_Origins *o,
                        const void *block) {
  const tg_AddressEntry *e = tg_addresstable_find(&o->table, block);
  if (e == NULL)
    return TG_NO_WAY;
  return tg_origins_is_now(o, e->origin) ? tg_allocways_now(ways)
                                         : tg_allocways_use(ways, e->origin);
}

/* The way of each object; NULL without memory. */
static uint32_t *find_ways (tg_AllocWays *ways, const tg_Origins *o,
                            const tg_Heap *h) {
  uint32_t *list = tg_malloc(((size_t)h->count + 1) * sizeof *list);
  for (uint32_t i = 0; list != NULL && i < h->count; i++)
    list[i] = way_of(ways, o, block_of(h, i));
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
  ways->scripts = t->scripts;
  uint32_t *list = find_ways(ways, t->origins, heap);
  bool done = list != NULL && tg_allocways_put(ways, g)
              && set_makers(ways, list, heap->count, g);
  tg_free(list);
  return done;
}

/* No values of calls are asked for, so none is decoded. The reader is not
   freed: the program's memory, which it pins, goes with the child. */
static bool add_read (const tg_MemoryTrace *t, tg_Stream *stream, tg_Pos start,
                      const tg_Heap *heap, tg_Graph *g) {
  tg_AllocWays ways = {.nways = 0};
  tg_Selection selection = {0};
  tg_Reader *r = NULL;
  if (tg_selection_add(&selection, t->options)) {
    selection.types &= TG_TYPE_ALLOCATIONS;
    r = tg_reader_new(stream, start, &selection);
  }
  bool done = r != NULL && add(&ways, r, t, heap, g);
  tg_allocways_free(&ways);
  tg_selection_clear(&selection);
  return done;
}

/* ---- events on a file ---- */

/* The file is opened anew, as anybody's would be: the program goes on writing
   it, and moves what is in it. Another one may have its name by now. */
static bool is_ours (const tg_Recording *r, const tg_Stream *s) {
  return r->header.pid == s->pid && r->header.origin == s->clock.origin
         && r->stream->store.first != NULL;
}

/* A file of a child that was forked begins later than its trace. */
static bool add_file (const tg_MemoryTrace *t, const tg_Heap *heap,
                      tg_Graph *g) {
  char reason[160];
  tg_Status status;
  tg_Recording *r = tg_recording_open(t->path, &status, reason, sizeof reason);
  bool done = status != TG_ERR_MEMORY;
  if (r != NULL && is_ours(r, t->stream)) {
    tg_Pos first = r->stream->store.first->base;
    done = add_read(t, r->stream, first > t->start ? first : t->start, heap,
                    g);
  }
  tg_recording_close(r);
  return done;
}

tg_TracedHeap tg_tracedheap_add (tg_HeapTracer *t, const tg_Heap *heap,
                                 tg_Graph *g) {
  const tg_MemoryTrace *found = &t->trace;
  if (t->main != NULL && !tg_memorytrace_seek(t->main, &t->trace))
    return TG_TRACEDHEAP_BUSY;
  if (found->options == NULL)
    return TG_TRACEDHEAP_DONE;
  bool done = found->path != NULL
              ? add_file(found, heap, g)
              : add_read(found, found->stream, found->start, heap, g);
  return done ? TG_TRACEDHEAP_DONE : TG_TRACEDHEAP_MEMORY;
}
