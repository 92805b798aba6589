/*
** allocations.c - see allocations.h. On the thread that runs the state, in the
** hook ('turn') and where traces come and go. Nothing raises: lua_getallocf and
** lua_setallocf only read and write two fields (lapi.c), and lua_gc with
** LUA_GCCOUNT adds two.
*/
#include "session/allocations.h"

#include "base/loaded.h"
#include "session/allocplace.h"
#include "session/collections.h"
#include "stream/holdings.h"

/* How much Lua has, as the meter began to count what is added to it. While the
   collector runs a finalizer it does not say (lua_gc, section 4.6 of the
   manual), nor while the state closes: then it is asked again with the next
   event that comes to 'turn', and until then the meter keeps to itself. */
void tg_allocations_base (tg_Session *s) {
  int kilobytes = lua_gc(s->host.main, LUA_GCCOUNT);
  int rest = lua_gc(s->host.main, LUA_GCCOUNTB);
  if (kilobytes >= 0 && rest >= 0)
    tg_allocmeter_base(s->memory.meter,
                       (uint64_t)kilobytes * 1024 + (uint64_t)rest);
}

/* The meter that the state's allocator gets before it: that of an earlier
   trace, if it stood before the same one. Another one may call ours itself by
   now. */
static tg_AllocMeter *find_meter (const tg_Session *s) {
  void *ud;
  lua_Alloc allocator = lua_getallocf(s->host.main, &ud);
  tg_AllocMeter *m = s->memory.spare;
  if (m != NULL && m->allocator == allocator && m->ud == ud)
    return m;
  return tg_allocmeter_new(allocator, ud);
}

/* Of traces that wait for calls one of both selections is aside. */
static uint64_t every_of (const tg_Session *s) {
  const tg_Selection *aside = &s->await.aside.selection;
  uint64_t every = s->selection.memory_every;
  if ((aside->types & TG_TYPE_ALLOCATIONS) == 0)
    return every;
  if ((s->selection.types & TG_TYPE_ALLOCATIONS) == 0)
    return aside->memory_every;
  return aside->memory_every < every ? aside->memory_every : every;
}

/* 'ticks_stop' as the alarm: the writer looks at it with every event. The meter
   outlives all of us: lua_close unloads modules (gctm in loadlib.c) before it
   frees its last blocks. */
static bool begin (tg_Session *s) {
  s->memory.meter = find_meter(s);
  if (s->memory.meter == NULL)
    return false;
  s->memory.spare = NULL;
  tg_loaded_keep();
  tg_allocmeter_begin(s->memory.meter, &s->writer.ticks_stop,
                      every_of(s));
  lua_setallocf(s->host.main, tg_allocmeter_call, s->memory.meter);
  tg_allocations_base(s);
  tg_collections_begin(s);
  tg_allocplace_begin(s);
  tg_session_attribute(s, s->current);
  return true;
}

/* Given back as it was, function and 'ud', unless there is another allocator
   before ours, which calls ours. */
void tg_allocations_end (tg_Session *s) {
  void *ud;
  tg_AllocMeter *m = s->memory.meter;
  if (m == NULL)
    return;
  s->memory.meter = NULL;
  tg_allocmeter_end(m);
  tg_collections_end(m);
  tg_allocplace_end(s);
  if (lua_getallocf(s->host.main, &ud) == tg_allocmeter_call && ud == m) {
    lua_setallocf(s->host.main, m->allocator, m->ud);
    s->memory.spare = m;
  }
}

/* Of traces that wait for calls one of both selections is aside. */
bool tg_allocations_review (tg_Session *s) {
  uint32_t types = s->selection.types | s->await.aside.selection.types;
  bool wanted = (types & TG_TYPE_ALLOCATIONS) != 0;
  if (wanted && s->memory.meter == NULL)
    return begin(s);
  if (wanted && s->memory.meter->origins.every != every_of(s))
    tg_origins_sample(&s->memory.meter->origins, every_of(s));
  if (!wanted)
    tg_allocations_end(s);
  return true;
}

/* How much larger the heap was meanwhile than both before and now. */
static uint64_t height (const tg_AllocMeter *m) {
  uint64_t before = m->told_heap;
  uint64_t high = before > m->heap ? before : m->heap;
  return m->peak > high ? m->peak - high : 0;
}

/* The counts are differences, in the fewest bytes; the size of the heap is as
   it is, so that a reader may begin anywhere. */
static uint8_t *put_counts (uint8_t *p, const tg_AllocMeter *m) {
  const tg_AllocCounts *told = &m->told;
  p = tg_putvar(p, m->total.allocations - told->allocations);
  p = tg_putvar(p, m->total.allocated - told->allocated);
  p = tg_putvar(p, m->total.freed - told->freed);
  p = tg_putvar(p, m->heap);
  return tg_putvar(p, height(m));
}

size_t tg_allocations_room (const tg_Session *s) {
  const tg_MemoryCounts *m = &s->memory;
  uint32_t parts = m->meter->origins.nparts;
  return TG_ALLOCATIONS_ROOM + tg_collections_room(s)
         + tg_holdings_room(&m->meter->origins, &m->lines)
         + 2u * parts * (TG_ALLOCATIONS_ROOM + TG_HOLDINGS_PART);
}

/* A line's part in an event of its own. */
static void note_part (tg_Session *s, const tg_OriginPart *part,
                       tg_Holding has, uint64_t heap, tg_AllocLine line,
                       uint64_t now) {
  tg_Writer *r = &s->writer;
  tg_writer_time(r, now);
  uint8_t *p = tg_writer_head(r, r->p, TG_EV_ALLOCATIONS | TG_EVF_HELD, now);
  p = tg_putvar(tg_putvar(tg_putvar(p, 0), 0), 0);
  p = tg_putvar(tg_putvar(p, heap), 0);
  tg_writer_end(r, tg_holdings_put_part(p, &s->memory.meter->origins, part,
                                        has, &line));
}

static void note_parts_before (tg_Session *s, uint64_t now) {
  const tg_AllocMeter *m = s->memory.meter;
  tg_Holding has;
  for (uint32_t i = 0; i < m->origins.nparts; i++) {
    const tg_OriginPart *part = &m->origins.parts[i];
    if (tg_holdings_before(&m->origins, i, height(m), &has))
      note_part(s, part, has, m->told_heap,
                tg_holdings_line_of(part, &s->memory.lines), now);
  }
}

/* What the line has allocated has been told. */
static void note_parts_behind (tg_Session *s, uint64_t now) {
  const tg_AllocMeter *m = s->memory.meter;
  tg_Holding has;
  for (uint32_t i = 0; i < m->origins.nparts; i++) {
    const tg_OriginPart *part = &m->origins.parts[i];
    if (!tg_holdings_behind(&m->origins, i, height(m), &has))
      continue;
    tg_AllocLine line = tg_holdings_line_of(part, &s->memory.lines);
    line.count = line.bytes = 0;
    note_part(s, part, has, m->heap, line, now);
  }
}

void tg_allocations_note (tg_Session *s, uint64_t now) {
  tg_AllocMeter *m = s->memory.meter;
  tg_Writer *r = &s->writer;
  tg_assert((size_t)(r->lim - r->p) >= tg_allocations_room(s));
  tg_allocmeter_look(m);
  tg_collections_note(s, now);
  tg_origins_settle(&m->origins);
  bool several = m->origins.nparts > 1;
  if (several)
    note_parts_before(s, now);
  tg_writer_time(r, now);
  uint8_t *p = tg_writer_head(r, r->p, TG_EV_ALLOCATIONS | TG_EVF_HELD, now);
  uint32_t told;
  p = tg_holdings_put(put_counts(p, m), &m->origins, &s->memory.lines,
                      height(m), &told);
  tg_writer_end(r, p);
  if (several)
    note_parts_behind(s, now);
  tg_origins_told(&m->origins, told);
  tg_allocplace_told(s);
  tg_allocmeter_asked(m);
  m->due = tg_origins_due(&m->origins) > 0;     /* these are told next */
}

/* To ask for room is enough: 'turn' tells of what is due, as often as it takes
   to tell of all. The chain of coroutines is nothing to it. What went while the
   tracer worked, as in a collection that a debugger asks for, has set no
   alarm. */
void tg_allocations_settle (tg_Session *s) {
  bool more = s->phase != TG_PHASE_TERMINATED;
  tg_AllocMeter *m = s->memory.meter;
  if (m != NULL && m->based && tg_origins_due(&m->origins) > 0)
    m->due = true;
  s->writer.behind = true;
  while (more && tg_allocations_due(s))
    more = tg_writer_begin(&s->writer, 1, tg_clock_ticks()) != NULL;
  s->writer.behind = false;
}
