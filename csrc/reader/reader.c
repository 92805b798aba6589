/*
** reader.c - one selection's view of a stream.
**
** Bytes are decoded to events, each with its time, and the framer makes packets
** of them (framer.h):
**
**     bytes --decode--> event --framer--> packets
**
** Called by whoever reads: a log, an export, a report, a client's follower on
** the server's thread. Bytes that are no event, a block that cannot be loaded
** and memory that is refused end the reading; 'status' then says which it was,
** and the packets so far are good.
*/
#include "reader/reader.h"

#include <string.h>

#include "base/alloc.h"
#include "reader/framesample.h"
#include "reader/readstate.h"
#include "stream/eventreader.h"
#include "stream/marks.h"

/*
** {==================================================================
** Birth, death, selection
** ===================================================================
*/

/* In another chunk, or when it is asked for. What lists cost there is told from
   its beginning on. */
static void find_prices (tg_Reader *r) {
  bool asks = tg_eventtime_corrects(&r->time) && r->cursor.store != NULL
              && r->cursor.offset == 0;
  r->prices = asks ? tg_cursor_prices(&r->cursor) : (tg_Prices){.count = 0};
}

/* At 'from', or where a ring now begins; later, if nothing is there yet. */
static bool find_place (tg_Reader *r) {
  if (tg_cursor_place(&r->cursor, &r->stream->store, r->from))
    return true;
  if (!tg_cursor_first(&r->cursor, &r->stream->store))
    return false;
  if (tg_cursor_pos(&r->cursor) <= r->from) {   /* 'from' is yet to come */
    tg_cursor_drop(&r->cursor);
    return false;
  }
  r->lost = r->cursor.chunk->packets;
  return true;
}

static bool place (tg_Reader *r) {
  bool placed = find_place(r);
  find_prices(r);
  return placed;
}

/* The end of a filter's window is a time at which reading ends; its beginning
   only hides frames, since they are open all the same. */
static void set_end (tg_Reader *r) {
  const tg_Filter *filter = r->framer.selection.filter;
  r->to_ns = filter != NULL ? filter->to_ns : UINT64_MAX;
}

/* NULL without memory. Where there is nothing to read yet the cursor is placed
   by the first event that is asked for. */
tg_Reader *tg_reader_new (tg_Stream *stream, tg_Pos from,
                          const tg_Selection *selection) {
  tg_Reader *r = tg_calloc(1, sizeof *r);
  if (r == NULL)
    return NULL;
  tg_framer_init(&r->framer, stream->functions);
  if (!tg_framer_select(&r->framer, selection)) {
    tg_free(r);
    return NULL;
  }
  set_end(r);
  r->stream = tg_stream_pin(stream);
  r->time.clock = stream->clock;
  r->from = from;
  place(r);
  return r;
}

/* The cursor before the stream, whose chunk it pins. NULL is fine. */
void tg_reader_free (tg_Reader *r) {
  if (r == NULL)
    return;
  tg_cursor_drop(&r->cursor);
  tg_stream_unpin(r->stream);
  tg_timers_free(&r->timers);
  tg_clockpast_free(&r->past);
  tg_framer_free(&r->framer);
  tg_packetredact_free(&r->redact);
  tg_free(r);
}

/* Between two events: no packet of the last one is still to be given. */
bool tg_reader_between (const tg_Reader *r) {
  return tg_framer_idle(&r->framer);
}

/* At the same place, with the same frames open. Only between events: what
   packets borrow is not copied. */
tg_Reader *tg_reader_copy (const tg_Reader *r) {
  tg_check(tg_reader_between(r));
  tg_Reader *c = tg_reader_new(r->stream, tg_reader_pos(r),
                                &r->framer.selection);
  if (c == NULL)
    return NULL;
  tg_cursor_drop(&c->cursor);
  if (!tg_framer_copy(&c->framer, &r->framer)) {
    tg_reader_free(c);
    return NULL;
  }
  c->context = r->context;
  c->lost = r->lost;
  c->time = r->time;
  return c;
}

/* A selection without types: whoever reads ahead looks at no values. */
tg_Reader *tg_reader_again (const tg_Reader *r) {
  tg_Selection bare;
  if (!tg_selection_copy(&bare, &r->framer.selection))
    return NULL;
  tg_selection_bare(&bare);
  tg_Reader *again = tg_reader_new(r->stream, tg_reader_pos(r), &bare);
  tg_selection_clear(&bare);
  if (again != NULL) {
    again->context = r->context;
    again->time = r->time;
  }
  return again;
}

/* From the next event on. False without memory, and the old selection stays. */
bool tg_reader_reselect (tg_Reader *r, const tg_Selection *selection) {
  if (!tg_framer_select(&r->framer, selection))
    return false;
  set_end(r);
  return true;
}

tg_Status tg_reader_status (const tg_Reader *r) {
  return r->framer.status;
}

void tg_reader_watch (tg_Reader *r, void (*gone) (void *ud, tg_ThreadId thread),
                      void *ud) {
  r->framer.gone = gone;
  r->framer.gone_ud = ud;
}

void tg_reader_pace (tg_Reader *r, void (*pace) (void *ud), void *ud) {
  r->pace = pace;
  r->pace_ud = ud;
}

void tg_reader_mark (tg_Reader *r) {
  r->framer.marks = true;
}

void tg_reader_show_windows (tg_Reader *r) {
  r->framer.windows = true;
}

void tg_reader_hold (tg_Reader *r) {
  r->framer.marks = r->framer.holds = true;
}

bool tg_reader_shows (tg_Reader *r, tg_FunctionId id) {
  return tg_framesample_shows(&r->framer, id);
}

void tg_reader_tick (tg_Reader *r) {
  r->framer.ticks = true;
}

void tg_reader_time_from (tg_Reader *r, uint64_t ticks) {
  r->time.clock.origin = ticks;
}

tg_Pos tg_reader_latest (const tg_Reader *r) {
  return r->framer.at;
}

tg_Pos tg_reader_pos (const tg_Reader *r) {
  return r->cursor.store != NULL ? tg_cursor_pos(&r->cursor) : r->from;
}

/* How far there is something to read. Before the cursor is placed nothing is
   known but where to begin. */
tg_Pos tg_reader_committed (const tg_Reader *r) {
  return r->cursor.store != NULL ? tg_cursor_committed(&r->cursor) : r->from;
}

/* The byte of the file where the event stands that could not be read; 0 if
   nothing is damaged, or if it is no file. */
uint64_t tg_reader_damage (const tg_Reader *r) {
  const tg_Chunk *c = r->cursor.chunk;
  if (r->framer.status != TG_ERR_FORMAT || c == NULL || c->place == 0)
    return 0;
  uint64_t place = c->place & TG_SUPPLY_PLACE;
  return place + sizeof(tg_Block) + (r->framer.at - c->base);
}

uint64_t tg_reader_time (const tg_Reader *r) {
  return r->framer.now_ns;
}

uint64_t tg_reader_untraced (const tg_Reader *r) {
  return r->time.untraced_ns;
}

uint64_t tg_reader_waited (const tg_Reader *r) {
  return tg_eventtime_length(&r->time, r->time.waited);
}

void tg_reader_correct (tg_Reader *r) {
  if (tg_costs_known(&r->stream->costs))
    tg_trueclock_start(&r->time.true_clock, &r->stream->costs,
                       r->time.clock.ns_per_tick);
  find_prices(r);
}

void tg_reader_weigh (tg_Reader *r) {
  tg_reader_correct(r);
  r->time.weighs = true;
}

uint64_t tg_reader_spent (const tg_Reader *r) {
  return tg_eventtime_length(&r->time, r->time.true_clock.spent);
}

uint64_t tg_reader_until (const tg_Reader *r, uint64_t ns) {
  return tg_eventtime_until(&r->time, tg_reader_time(r), ns);
}

uint64_t tg_reader_lost (const tg_Reader *r) {
  return r->lost;
}

uint64_t tg_reader_missing (const tg_Reader *r) {
  return r->framer.missing;
}

uint64_t tg_reader_samples (const tg_Reader *r) {
  return r->framer.sample.taken;
}

bool tg_reader_begun (const tg_Reader *r, uint64_t *ns) {
  *ns = r->framer.begun_ns;
  return *ns != UINT64_MAX;
}

/* Whether values last as long as the chunk. What is put together elsewhere,
   kept arguments, is not in it, and goes with the next event. */
bool tg_reader_lasts (const tg_Reader *r, tg_Slice values) {
  const tg_Chunk *c = r->cursor.chunk;
  return c != NULL && values.data >= c->block->data
         && values.data <= c->block->data + tg_block_used(c->block);
}

/* Keeps the chunk in which the reader is, for as long as its values are
   needed. */
void tg_reader_pin (const tg_Reader *r, tg_Cursor *to) {
  tg_cursor_copy(to, &r->cursor);
}

bool tg_reader_within (const tg_Reader *r, const tg_Cursor *pin) {
  tg_assert(pin->chunk != NULL);
  return r->cursor.chunk == pin->chunk;
}

const tg_Stream *tg_reader_stream (const tg_Reader *r) {
  return r->stream;
}

/* }================================================================== */

/* In a new chunk, or at a CONTEXT. */
static void begin_context (tg_Reader *r, uint32_t offset) {
  r->context = offset;
  memset(&r->models, 0, sizeof r->models);
}

/*
** Committed bytes at the cursor, in whichever chunk they begin; 0 if none. A
** chunk that has a successor is full, but its last bytes may have come after
** the first look.
*/
static size_t look (tg_Reader *r, const uint8_t **data) {
  size_t size;
  while ((size = tg_cursor_peek(&r->cursor, data)) == 0) {
    if (atomic_load_explicit(&r->cursor.chunk->next, memory_order_acquire)
        == NULL)
      return 0;
    if (tg_cursor_peek(&r->cursor, data) == 0
        && !tg_cursor_advance(&r->cursor)) {
      r->framer.status = r->stream->store.status;
      return 0;
    }
    begin_context(r, 0);
    find_prices(r);
    if (r->pace != NULL)
      r->pace(r->pace_ud);
  }
  return size;
}

/* The function that the event calls or leaves; NULL: none, or not known. */
static const tg_Function *function_of (const tg_Reader *r, const tg_Event *e) {
  tg_FunctionId id = e->function;
  if (e->kind == TG_EV_RETURN) {
    const tg_Stack *s = r->framer.running;
    const tg_StackFrame *f = s != NULL ? tg_stack_top(s) : NULL;
    id = f != NULL ? f->function : 0;
  }
  else if (e->kind != TG_EV_CALL)
    return NULL;
  return tg_functions_find(r->stream->functions, id);
}

/* For markers, what is asked of the past. False without memory. */
static bool remember (tg_Reader *r, tg_Event *e, const tg_Moment *m) {
  uint32_t sort = e->kind == TG_EV_MARK ? e->mark & TG_MARK_SORT : TG_NMARKS;
  if (sort == TG_MARK_TIME)
    return tg_timers_begin(&r->timers, m->ticks, m->now_ns);
  if (sort == TG_MARK_TIMEEND || sort == TG_MARK_TIMELOG
      || sort == TG_MARK_COLLECTION || sort == TG_MARK_UNTRACED)
    tg_timers_correct(&r->timers, &r->past, &r->time.clock, e, m->ticks,
                      m->now_ns);
  return !tg_eventtime_corrects(&r->time)
         || tg_clockpast_add(&r->past, m->ticks, m->out);
}

/* Takes note of what the event at that moment has cost. */
TG_INLINE void take_cost (tg_Reader *r, tg_Event *e, const tg_Moment *m) {
  const tg_Costs *c = r->time.true_clock.costs;
  uint64_t list = tg_costs_count_list(e)
                  ? tg_readstate_price(r, e->values) : 0;
  tg_Price price = tg_costs_of(c, e->kind, e->flags, function_of(r, e), list);
  tg_eventtime_cost(&r->time, price, m);
  if (e->kind == TG_EV_SAMPLE && !r->time.weighs)
    tg_eventtime_sample(&r->time, e);
}

/* Decodes the event that comes next: its size; 0 if there is none before
   'end'. */
static size_t decode (tg_Reader *r, tg_Pos end) {
  const uint8_t *data;
  if (tg_unlikely(r->cursor.store == NULL) && !place(r)) {
    r->framer.status = r->stream->store.status;
    return 0;
  }
  if (tg_cursor_pos(&r->cursor) >= end)
    return 0;
  size_t size = look(r, &data);
  if (size == 0)
    return 0;
  const uint8_t *from = r->cursor.chunk->block->data;
  const uint8_t *origin = from + tg_readstate_context(r);
  size_t used = tg_event_decode(&origin, data, size, &r->framer.event);
  tg_assert(used <= size);
  if (tg_unlikely(origin != from + tg_readstate_context(r)))
    begin_context(r, (uint32_t)(origin - from));
  if (used == 0) {
    r->framer.at = tg_cursor_pos(&r->cursor);
    r->framer.status = TG_ERR_FORMAT;
  }
  return used;
}

/* Reads an event; false if there is none before 'end', and none in time. The
   reader moves on only when it is known to be good: where it stands is what
   'damage' tells. The clock is changed in its place, since to copy what has
   just been written makes the processor wait. */
static bool read_event (tg_Reader *r, tg_Pos end, uint64_t *now_ns) {
  tg_Event *e = &r->framer.event;
  size_t used = decode(r, end);
  if (used == 0)
    return false;
  bool limited = r->to_ns < UINT64_MAX;
  tg_EventTime before;
  if (tg_unlikely(limited))
    before = r->time;
  tg_Moment m = tg_eventtime_at(&r->time, e);
  *now_ns = m.now_ns;
  if (limited && m.now_ns > r->to_ns) {
    r->time = before;
    return false;
  }
  if (tg_eventtime_corrects(&r->time))
    take_cost(r, e, &m);
  r->framer.at = tg_cursor_pos(&r->cursor);
  if (r->framer.marks && !remember(r, e, &m)) {
    r->framer.status = TG_ERR_MEMORY;
    return false;
  }
  r->cursor.offset += (uint32_t)used;
  tg_eventtime_pass(&r->time, &m);
  return true;
}

/* False without memory, which ends the reading. */
static bool redact (tg_Reader *r, tg_Packet *out) {
  if (tg_packetredact(&r->redact, &r->framer.selection, r->stream->functions,
                      out))
    return true;
  r->framer.status = TG_ERR_MEMORY;
  return false;
}

/* An event may give several packets, or none; the framer has them one by
   one. */
bool tg_reader_next (tg_Reader *r, tg_Pos end, tg_Packet *out) {
  uint64_t now_ns;
  bool given = !tg_framer_idle(&r->framer) && tg_framer_next(&r->framer, out);
  while (!given && !tg_framer_over(&r->framer) && read_event(r, end, &now_ns))
    given = tg_framer_event(&r->framer, now_ns, out);
  if (given)
    out->spent_ns = r->time.spent_ns;
  if (given && tg_unlikely(out->apart))
    out->leaning_ns = tg_eventtime_leaning(&r->time);
  if (given && tg_unlikely(r->framer.selection.redacts))
    given = redact(r, out);
  return given;
}
