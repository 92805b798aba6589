/*
** allocations.c - see allocations.h. On the thread that runs the state, in the
** hook ('turn') and where traces come and go. Nothing raises: lua_getallocf and
** lua_setallocf only read and write two fields (lapi.c), and lua_gc with
** LUA_GCCOUNT adds two.
*/
#include "session/allocations.h"

#include "base/loaded.h"

/* How much Lua has, as the meter began to count what is added to it. While the
   collector runs a finalizer it does not say (lua_gc, section 4.6 of the
   manual): then it is asked again with the next event. */
static void find_base (tg_Session *s) {
  int kilobytes = lua_gc(s->main, LUA_GCCOUNT);
  int rest = lua_gc(s->main, LUA_GCCOUNTB);
  if (kilobytes >= 0 && rest >= 0)
    tg_allocmeter_base(s->meter, (uint64_t)kilobytes * 1024 + (uint64_t)rest);
}

/* 'ticks_stop' as the alarm: the writer looks at it with every event. The meter
   may outlive all of us: lua_close unloads modules (gctm in loadlib.c) before
   it frees its last blocks. */
static bool begin (tg_Session *s) {
  void *ud;
  lua_Alloc allocator = lua_getallocf(s->main, &ud);
  s->meter = tg_allocmeter_new(allocator, ud, s->main, &s->writer.ticks_stop);
  if (s->meter == NULL)
    return false;
  tg_loaded_keep();
  lua_setallocf(s->main, tg_allocmeter_call, s->meter);
  find_base(s);
  tg_session_attribute(s, s->current);
  tg_allocmeter_asked(s->meter);
  return true;
}

/* Given back as it was, function and 'ud'. Another allocator before ours calls
   ours, and may have kept its 'ud': it can only be left to the state. */
void tg_allocations_end (tg_Session *s) {
  void *ud;
  tg_AllocMeter *m = s->meter;
  if (m == NULL)
    return;
  s->meter = NULL;
  if (lua_getallocf(s->main, &ud) == tg_allocmeter_call && ud == m) {
    lua_setallocf(s->main, m->allocator, m->ud);
    tg_allocmeter_free(m);
  }
  else
    tg_allocmeter_leave(m);
}

/* Of traces that wait for calls one of both selections is aside. */
bool tg_allocations_review (tg_Session *s) {
  uint32_t types = s->selection.types | s->aside.selection.types;
  bool wanted = (types & TG_TYPE_ALLOCATIONS) != 0;
  if (wanted && s->meter == NULL)
    return begin(s);
  if (!wanted)
    tg_allocations_end(s);
  return true;
}

/* The counts are differences, in the fewest bytes; the size of the heap is as
   it is, so that a reader may begin anywhere. 'above': how much larger the heap
   was meanwhile than both before and now. */
static uint8_t *put_counts (uint8_t *p, const tg_AllocMeter *m,
                            const tg_AllocCounts *told, uint64_t before) {
  uint64_t high = before > m->heap ? before : m->heap;
  p = tg_putvar(p, m->total.allocations - told->allocations);
  p = tg_putvar(p, m->total.allocated - told->allocated);
  p = tg_putvar(p, m->total.freed - told->freed);
  p = tg_putvar(p, m->based ? m->heap : 0);
  return tg_putvar(p, m->peak > high ? m->peak - high : 0);
}

void tg_allocations_note (tg_Session *s, uint64_t now) {
  tg_AllocMeter *m = s->meter;
  tg_Writer *r = &s->writer;
  tg_assert(m != NULL && (size_t)(r->lim - r->p) >= TG_ALLOCATIONS_ROOM);
  if (!m->based)
    find_base(s);
  tg_writer_time(r, now);
  uint8_t *p = tg_writer_head(r, r->p, TG_EV_ALLOCATIONS, now);
  tg_writer_end(r, put_counts(p, m, &m->told, m->told_heap));
  tg_allocmeter_asked(m);
}

/* To ask for room is enough: 'turn' tells of what is due. The chain of
   coroutines is nothing to it. */
void tg_allocations_settle (tg_Session *s) {
  if (!tg_allocations_due(s))
    return;
  s->writer.behind = true;
  (void)tg_writer_begin(&s->writer, TG_ALLOCATIONS_ROOM, tg_clock_ticks());
  s->writer.behind = false;
}
