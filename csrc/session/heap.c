/*
** heap.c - see heap.h. Called in the hook, by 'turn', and where traces come and
** go. Nothing here can fail: while Lua closes its state or runs the collector
** it tells no size (lua_gc, section 4.6 of the manual), and then none is noted.
*/
#include "session/heap.h"

#include "stream/marks.h"

#define EVERY_NS 1e6

void tg_heap_review (tg_Session *s) {
  uint32_t types = s->selection.types | s->await.aside.selection.types;
  bool wanted = (types & TG_TYPE_MEMORY) != 0;
  if (!wanted)
    s->memory.heap_due = UINT64_MAX;
  else if (s->memory.heap_due == UINT64_MAX)
    s->memory.heap_due = 0;
}

static void put_size (tg_Writer *r, uint64_t bytes, uint64_t now) {
  tg_assert((size_t)(r->lim - r->p) >= TG_HEAP_ROOM);
  tg_writer_time(r, now);
  uint8_t *p = tg_writer_head(r, r->p, TG_EV_MARK | TG_EVF_NUMBER, now);
  p = tg_put32(p, TG_MARK_HEAP);
  tg_writer_end(r, tg_put64(p, bytes));
}

/* Of the main thread, which is always there: the heap is that of all. */
void tg_heap_note (tg_Session *s, uint64_t now) {
  int kilobytes = lua_gc(s->host.main, LUA_GCCOUNT);
  int rest = lua_gc(s->host.main, LUA_GCCOUNTB);
  tg_assert(tg_heap_due(s, now));
  s->memory.heap_due = now
                + (uint64_t)(EVERY_NS / s->writer.stream->clock.ns_per_tick);
  if (kilobytes >= 0 && rest >= 0)
    put_size(&s->writer, (uint64_t)kilobytes * 1024 + (uint64_t)rest, now);
}
