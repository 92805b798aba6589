/*
** liveprofile.c - see liveprofile.h. Used by receiver.c, on the thread of its
** state. What it reads comes from another process and may be anything: a reader
** bears that, and its times never go back.
*/
#include "client/liveprofile.h"

#include <string.h>

#include "binding/luasink.h"
#include "packet/names.h"
#include "stream/marks.h"

/* A coroutine will not come back: the profile forgets its frames. */
static void forget (void *ud, tg_ThreadId thread) {
  tg_LiveProfile *p = ud;
  tg_profile_gone(&p->profile, thread);
  if (tg_intmap_find(&p->coroutines, thread) != TG_INTMAP_NONE)
    tg_intmap_drop(&p->coroutines, thread);
  p->latest = 0;
}

/* A tick's time is its own, whatever comes between two of them: a function that
   does not return has ticks alone. */
static tg_Ticks ticks_of (const tg_LiveProfile *p) {
  return p->sampled ? TG_TICKS_ONLY : TG_TICKS_NONE;
}

/* What is allocated, and by which lines. */
static void want_usage (tg_Profile *p, tg_Reader *reader) {
  p->usage.on = p->usage.lined = true;
  tg_profile_lines(p, TG_LINED_ROWS);
  tg_profile_makers(p, reader);
  tg_reader_hold(reader);
}

/* No values are asked for: none is looked at. */
bool tg_liveprofile_begin (tg_LiveProfile *p, tg_Stream *stream,
                           const tg_Options *options) {
  tg_Selection selection = {0};
  tg_assert(p->reader == NULL);
  if (!tg_selection_add(&selection, options))
    return false;
  selection.types &= TG_TYPE_ALLOCATIONS;
  p->sampled = options->sample > 0 && !options->with_calls;
  if (tg_profile_init(&p->profile, stream->functions, false)
      && tg_profile_tick(&p->profile, ticks_of(p)))
    p->reader = tg_reader_new(stream, 0, &selection);
  bool usage = selection.types != 0;
  tg_selection_clear(&selection);
  if (p->reader == NULL)
    return false;
  tg_reader_watch(p->reader, forget, p);
  if (usage)
    want_usage(&p->profile, p->reader);
  if (p->sampled)
    tg_reader_tick(p->reader);
  return true;
}

void tg_liveprofile_free (tg_LiveProfile *p) {
  tg_reader_free(p->reader);
  tg_profile_free(&p->profile);
  tg_linesums_free(&p->lines);
  tg_intmap_free(&p->coroutines);
  tg_buf_free(&p->room);
  memset(p, 0, sizeof *p);
}

/* A coroutine runs: it is one of those that there are. */
static bool see (tg_LiveProfile *p, tg_ThreadId thread) {
  if (thread == p->latest)
    return true;
  p->latest = thread;
  return tg_intmap_set(&p->coroutines, thread, 0);
}

/* False without memory. */
static bool add (tg_LiveProfile *p, const tg_Packet *packet) {
  if (packet->why == TG_WHY_TICK) {
    tg_profile_add(&p->profile, packet);
    return !p->lines.on || tg_linesums_add(&p->lines, &p->profile, packet);
  }
  if (packet->why == TG_WHY_MARK && packet->mark == TG_MARK_COLLECTION) {
    p->collections++;
    p->collecting_ns += packet->numbered ? packet->hits : 0;
  }
  tg_profile_add(&p->profile, packet);
  return packet->why != TG_WHY_ENTER || see(p, packet->thread);
}

bool tg_liveprofile_pump (tg_LiveProfile *p, tg_Pos end) {
  tg_Packet packet;
  if (p->reader == NULL)
    return true;
  while (tg_reader_next(p->reader, end, &packet)) {
    if (!add(p, &packet))
      p->profile.status = TG_ERR_MEMORY;
  }
  return tg_reader_status(p->reader) == TG_OK && p->profile.status == TG_OK;
}

/* ---- as of now ---- */

/* What has passed since the latest packet belongs to the frames that are open.
   Where samples tell what runs, the next one will say whose it was. */
static uint64_t passed_ns (const tg_LiveProfile *p, uint64_t now_ns) {
  bool running = p->profile.nopen > 0 && !p->sampled;
  return (running && now_ns > p->profile.now_ns) ? now_ns - p->profile.now_ns
                                                 : 0;
}

static tg_Tally tally_of (const tg_Profile *p, uint32_t row,
                          uint64_t passed_ns) {
  tg_Tally t = p->rows[row].tally;
  if (p->rows[row].open > 0)
    t.total_ns += p->now_ns + passed_ns - p->rows[row].since_ns;
  if (p->nopen > 0 && p->open[p->nopen - 1].call.row == row)
    t.self_ns += passed_ns;
  return t;
}

/* Named as rows of a report are. */
static void put_names (tg_LiveProfile *p, tg_Sink *out, uint32_t row) {
  const tg_Function *f = tg_profile_function(&p->profile, row);
  tg_sink_key(out, "name");
  tg_names_title(out, &p->room, f);
  tg_names_place(out, &p->room, f);
}

static void put_usage (tg_Sink *out, const tg_UsageTally *u, bool live) {
  tg_sink_count(out, "self_bytes", u->self.allocated);
  tg_sink_count(out, "total_bytes", u->total.allocated);
  tg_sink_count(out, "self_allocations", u->self.count);
  tg_sink_count(out, "total_allocations", u->total.count);
  if (live)
    tg_sink_count(out, "self_live_bytes", u->live.bytes);
}

static void put_row (tg_LiveProfile *p, tg_Sink *out, uint32_t row,
                     uint64_t passed_ns) {
  tg_Tally t = tally_of(&p->profile, row, passed_ns);
  out->object(out);
  put_names(p, out, row);
  tg_sink_count(out, "calls", t.calls);
  tg_sink_ms(out, "self_ms", t.self_ns);
  tg_sink_ms(out, "total_ms", t.total_ns);
  if (p->profile.usage.on) {
    tg_UsageTally u = tg_usage_row(&p->profile.usage, row);
    put_usage(out, &u, p->profile.usage.live.told);
  }
  out->close(out);
}

static void put_rows (tg_LiveProfile *p, tg_Sink *out, uint64_t passed_ns) {
  tg_sink_key(out, "functions");
  out->array(out);
  for (uint32_t i = 0; i < p->profile.nrows; i++)
    put_row(p, out, i, passed_ns);
  out->close(out);
}

static void put_line_usage (tg_Sink *out, const tg_LineSum *sum, bool live) {
  tg_sink_count(out, "self_bytes", sum->bytes);
  tg_sink_count(out, "self_allocations", sum->allocations);
  if (live)
    tg_sink_count(out, "self_live_bytes", sum->live);
}

/* 'line' is the function's, 'at' the one that ran; 0 of a C function. */
static void put_lines (tg_LiveProfile *p, tg_Sink *out) {
  const tg_Usage *u = &p->profile.usage;
  p->lines.on = true;
  if (u->on && !tg_linesums_allocated(&p->lines, &p->profile))
    p->profile.status = TG_ERR_MEMORY;
  tg_sink_key(out, "lines");
  out->array(out);
  for (uint32_t i = 0; i < p->lines.n; i++) {
    const tg_LineSum *sum = &p->lines.list[i];
    out->object(out);
    put_names(p, out, sum->row);
    tg_sink_count(out, "at", sum->line);
    tg_sink_ms(out, "self_ms", sum->self_ns);
    tg_sink_ms(out, "total_ms", sum->total_ns);
    if (u->on)
      put_line_usage(out, sum, u->live.told);
    out->close(out);
  }
  out->close(out);
}

static void put_memory (const tg_LiveProfile *p, tg_Sink *out) {
  const tg_Usage *u = &p->profile.usage;
  tg_sink_key(out, "memory");
  out->object(out);
  tg_sink_count(out, "total_bytes", u->sum.allocated);
  tg_sink_count(out, "total_allocations", u->sum.count);
  tg_sink_count(out, "freed_bytes", u->sum.freed);
  if (u->known) {
    tg_sink_count(out, "heap_bytes", u->heap);
    tg_sink_count(out, "peak_bytes", u->peak);
  }
  tg_sink_count(out, "collections", p->collections);
  tg_sink_ms(out, "collecting_ms", p->collecting_ns);
  out->close(out);
}

void tg_liveprofile_push (lua_State *L, tg_LiveProfile *p, uint64_t now_ns,
                          bool lines) {
  uint64_t passed = 0;
  tg_LuaSink sink;
  tg_Sink *out = &sink.sink;
  tg_luasink_init(&sink, L);
  out->object(out);
  if (p->reader != NULL) {
    now_ns = tg_reader_until(p->reader, now_ns);
    passed = passed_ns(p, now_ns);
    if (now_ns < p->profile.now_ns)
      now_ns = p->profile.now_ns;
    tg_sink_count(out, "samples", tg_reader_samples(p->reader));
    tg_sink_ms(out, "waited_ms", tg_reader_waited(p->reader));
  }
  tg_sink_ms(out, "time_ms", now_ns);
  tg_sink_count(out, "coroutines", p->coroutines.count);
  put_rows(p, out, passed);
  if (lines)
    put_lines(p, out);
  if (p->profile.usage.on)
    put_memory(p, out);
  out->close(out);
}
