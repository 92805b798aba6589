/*
** replay.c - see replay.h.
**
** Called by searches (search.h), by who compares recordings (parting.h), and
** by the object that Lua has (trace/replayobject.c); always on one thread. The
** reader is one packet ahead, since what comes next says what the innermost
** frame is about to do.
*/
#include "replay/replay.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "stream/eventreader.h"
#include "stream/marks.h"

/*
** {==================================================================
** Reading on
** ===================================================================
*/

static void gone (void *ud, tg_ThreadId thread) {
  tg_callstacks_drop(&((tg_Replay *)ud)->stacks, thread);
}

/* What a reader is asked for beside frames. */
static void equip (tg_Replay *r) {
  tg_reader_watch(r->reader, gone, r);
  tg_reader_mark(r->reader);
}

/* Markers of the console: other moments belong to no call. More than can be
   kept are counted. */
static bool note_marker (tg_Replay *r, const tg_Packet *p) {
  if (!tg_mark_said(p->mark) || r->number < r->seen)
    return true;
  if (r->nmarkers == TG_REPLAY_MARKERS) {
    r->unkept++;
    return true;
  }
  if (!tg_grow(&r->markers, &r->cmarkers, r->nmarkers + 1, sizeof *r->markers))
    return false;
  r->markers[r->nmarkers++] = (tg_ReplayMarker){
    .number = r->number, .time_ns = p->time_ns, .thread = p->thread,
    .depth = p->depth, .at = tg_reader_latest(r->reader)
  };
  return true;
}

/* Not where a coroutine is about to yield: what it yields are the arguments of
   that call, which a copy of the reader would not have. */
static bool yields (const tg_Replay *r) {
  const tg_Function *f = tg_functions_find(r->stream->functions,
                                           r->last.packet.function);
  return !r->first && r->last.packet.why == TG_WHY_ENTER && f != NULL
         && f->role == TG_ROLE_YIELD;
}

static void leave_waypoint (tg_Replay *r) {
  if (tg_waypoints_are_due(&r->ways, r->number)
      && tg_reader_between(r->reader) && !yields(r))
    (void)tg_waypoints_add(&r->ways, r->number, r->reader, &r->stacks);
}

static void fail (tg_Replay *r, tg_Status status) {
  r->status = status;
  r->over = true;
}

/* There are no more: that is the end of the trace, or of what can be read. */
static void finish (tg_Replay *r) {
  r->over = true;
  r->status = tg_reader_status(r->reader);
  r->damage = tg_reader_damage(r->reader);
  if (r->status == TG_OK || r->status == TG_ERR_FORMAT)
    r->total = r->number;
}

static void hide (tg_Replay *r, tg_Packet *p) {
  if (r->selection.redacts
      && !tg_packetredact(&r->redact, &r->selection, r->stream->functions, p))
    fail(r, TG_ERR_MEMORY);
}

/* 'coming' has a list of its own: what others were given is asked for at the
   same moment. */
static void hide_coming (tg_Replay *r) {
  tg_Buf spare = r->ahead;
  if (!r->selection.redacts)
    return;
  hide(r, &r->coming.packet);
  r->ahead = r->redact.values;
  r->redact.values = spare;
}

/* The packet that comes next, and the markers before it. */
static void look_ahead (tg_Replay *r) {
  tg_Packet *p = &r->coming.packet;
  leave_waypoint(r);
  for (;;) {
    if (!tg_reader_next(r->reader, r->stop, p)) {
      finish(r);
      break;
    }
    if (!tg_packet_is_moment(p)) {
      r->coming.at = tg_reader_latest(r->reader);
      hide_coming(r);
      break;
    }
    if (p->why == TG_WHY_MARK && !note_marker(r, p)) {
      fail(r, TG_ERR_MEMORY);
      break;
    }
  }
  if (r->seen < r->number + 1)
    r->seen = r->number + 1;
}

bool tg_replay_advance (tg_Replay *r) {
  if (r->over)
    return false;
  r->last.packet = r->coming.packet;
  r->last.at = r->coming.at;
  r->last.packet.values = r->last.packet.locals = (tg_Slice){.data = NULL};
  if (!tg_callstacks_take(&r->stacks, &r->coming.packet, r->number,
                          r->coming.at, &r->last.frame)) {
    fail(r, TG_ERR_MEMORY);
    return false;
  }
  r->first = false;
  r->number++;
  look_ahead(r);
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Birth, death, going somewhere
** ===================================================================
*/

/* What is hidden is hidden here and not by the readers, which come and go: what
   one of them has learnt would go with it. */
tg_Reader *tg_replay_reader (const tg_Replay *r) {
  tg_Selection bare;
  if (!tg_selection_copy(&bare, &r->selection))
    return NULL;
  bare.redacts = false;
  tg_Reader *reader = tg_reader_new(r->stream, r->from, &bare);
  tg_selection_clear(&bare);
  return reader;
}

tg_Replay *tg_replay_new (const tg_ReplaySource *source) {
  tg_Replay *r = tg_calloc(1, sizeof *r);
  if (r == NULL)
    return NULL;
  r->stream = tg_stream_pin(source->stream);
  r->from = source->from;
  r->stop = source->stop;
  r->first = true;
  r->total = TG_REPLAY_UNKNOWN;
  tg_waypoints_init(&r->ways, source->every, source->most);
  if (tg_selection_copy(&r->selection, source->selection)) {
    r->selection.types &= ~(uint32_t)TG_TYPE_HITCOUNT;  /* not counted again */
    r->reader = tg_replay_reader(r);
  }
  if (r->reader == NULL) {
    tg_replay_free(r);
    return NULL;
  }
  equip(r);
  look_ahead(r);
  if (r->ways.count == 0) {   /* no memory for the first one */
    tg_replay_free(r);
    return NULL;
  }
  return r;
}

void tg_replay_free (tg_Replay *r) {
  if (r == NULL)
    return;
  tg_cursor_drop(&r->pin);
  tg_reader_free(r->reader);
  tg_waypoints_free(&r->ways);
  tg_callstacks_free(&r->stacks);
  tg_packetredact_free(&r->redact);
  tg_buf_free(&r->ahead);
  tg_free(r->markers);
  tg_selection_clear(&r->selection);
  tg_stream_unpin(r->stream);
  tg_free(r);
}

/* What was the end stays known; that reading has failed for want of memory may
   be otherwise now. */
static bool restore (tg_Replay *r, const tg_Waypoint *w) {
  tg_Reader *reader = tg_reader_copy(w->reader);
  if (reader == NULL)
    return false;
  tg_reader_free(r->reader);
  r->reader = reader;
  equip(r);
  tg_callstacks_free(&r->stacks);
  if (!tg_callstacks_copy(&r->stacks, &w->stacks))
    return false;
  r->number = w->number;
  r->first = w->number == 0;
  r->over = false;
  r->last.at = r->coming.at = UINT64_MAX;   /* not known here */
  r->status = TG_OK;
  look_ahead(r);
  return true;
}

/* The state to begin with is one before the moment, and not at it: the packet
   before has to be read for what it has ended. */
static bool approach (tg_Replay *r, uint64_t number) {
  const tg_Waypoint *w = tg_waypoints_before(&r->ways,
                                             number > 0 ? number - 1 : 0);
  if (r->number < number && w->number <= r->number)
    return true;
  if (restore(r, w))
    return true;
  fail(r, TG_ERR_MEMORY);
  return false;
}

bool tg_replay_go (tg_Replay *r, uint64_t number, uint64_t budget) {
  if (number > r->total)
    number = r->total;
  if (r->number == number && (r->first || r->last.at != UINT64_MAX))
    return true;
  if (!approach(r, number))
    return false;
  for (; r->number < number && budget > 0; budget--) {
    if (!tg_replay_advance(r))
      return r->status != TG_ERR_MEMORY;    /* the last one there is */
  }
  return r->number == number;
}

/* }================================================================== */

/*
** {==================================================================
** The moment
** ===================================================================
*/

/* The end of a coroutine's last frame leaves nothing to look at: its resumer's
   call ends next. */
bool tg_replay_stands (const tg_Replay *r) {
  if (r->first || r->over)
    return true;
  const tg_CallStack *s = tg_callstacks_find(&r->stacks, r->last.packet.thread);
  return tg_replay_is_call(&r->last) && r->coming.at != r->last.at
         && s != NULL && s->count > 0;
}

tg_ThreadId tg_replay_running (const tg_Replay *r) {
  if (!r->first && tg_replay_is_call(&r->last)) {
    tg_ThreadId thread = r->last.packet.thread;
    const tg_CallStack *s = tg_callstacks_find(&r->stacks, thread);
    if ((s != NULL && s->count > 0) || r->over)
      return thread;
  }
  return r->over ? 1 : r->coming.packet.thread;
}

/* }================================================================== */

/*
** {==================================================================
** Values, where they stand
** ===================================================================
*/

/* Mostly it is where the reader is just now. To find a chunk is to go through
   all before it. */
static bool place (tg_Replay *r, tg_Pos at) {
  tg_cursor_drop(&r->pin);
  tg_reader_pin(r->reader, &r->pin);
  const tg_Chunk *c = r->pin.chunk;
  if (c != NULL && at >= c->base && at - c->base < tg_block_used(c->block)) {
    r->pin.offset = (uint32_t)(at - c->base);
    return true;
  }
  tg_cursor_drop(&r->pin);
  return tg_cursor_place(&r->pin, &r->stream->store, at);
}

/* Goes through the pinned chunk for the last CONTEXT before an offset: nearly
   always it is the one that the chunk begins with. */
static void find_context (tg_Replay *r, uint32_t offset) {
  const tg_Block *b = r->pin.chunk->block;
  const uint8_t *last = b->data, *next = last;
  uint32_t at = 0, used = tg_block_used(b);
  tg_Event e;
  size_t n;
  while (at < used
         && (n = tg_event_decode(&next, b->data + at, used - at, &e)) > 0
         && (next == last || at <= offset)) {
    last = next;
    at += (uint32_t)n;
  }
  r->context_chunk = r->pin.chunk;
  r->context = (uint32_t)(last - b->data);
  r->context_until = at < used ? at : UINT32_MAX;
}

/* What values where the pin is may refer to. */
static const uint8_t *origin (tg_Replay *r) {
  uint32_t offset = r->pin.offset;
  if (r->context_chunk != r->pin.chunk || offset < r->context
      || offset >= r->context_until)
    find_context(r, offset);
  return r->pin.chunk->block->data + r->context;
}

/* The event at a place where reading has found one. */
static bool event_at (tg_Replay *r, tg_Pos at, tg_Event *e) {
  const uint8_t *data, *from;
  if (!place(r, at))
    return false;
  size_t size = tg_cursor_peek(&r->pin, &data);
  if (size == 0)
    return false;
  from = origin(r);
  return tg_event_decode(&from, data, size, e) > 0;
}

bool tg_replay_recall (tg_Replay *r, tg_Pos at, tg_Packet *p) {
  tg_Event e;
  if (!event_at(r, at, &e))
    return false;
  p->values = e.values;
  if (p->why != TG_WHY_MARK
      && ((e.kind == TG_EV_CALL && p->why != TG_WHY_ENTER)
          || e.kind > TG_EV_YIELD))
    p->values = (tg_Slice){.data = NULL};   /* another frame's, or none */
  hide(r, p);
  return r->status != TG_ERR_MEMORY;
}

bool tg_replay_entry (tg_Replay *r, tg_ThreadId thread, const tg_CallFrame *f,
                      tg_Packet *out) {
  *out = (tg_Packet){
    .why = TG_WHY_ENTER, .sequence = f->entry, .time_ns = f->entered_ns,
    .function = f->function, .thread = thread, .depth = f->depth,
    .sampled = f->sampled, .resumed = !f->seen && !f->sampled,
    .caller = f->caller, .line = f->line
  };
  return !f->seen || tg_replay_recall(r, f->at, out);
}

/* As the packet of a frame that is entered again, which has no arguments. */
bool tg_replay_locals (tg_Replay *r, const tg_CallFrame *f, tg_Packet *out) {
  tg_Event e;
  if (f->locals_at == TG_NO_EVENT || !event_at(r, f->locals_at, &e)
      || !tg_event_tells_locals(&e))
    return false;
  *out = (tg_Packet){
    .why = TG_WHY_ENTER, .resumed = true, .function = f->function,
    .locals = e.values, .locals_line = e.line
  };
  hide(r, out);
  return r->status != TG_ERR_MEMORY;
}

uint32_t tg_replay_unwinds (tg_Replay *r) {
  tg_Event e;
  bool throws = !r->over && r->coming.packet.why == TG_WHY_EXCEPTION;
  return throws && event_at(r, r->coming.at, &e) && e.kind == TG_EV_THROW
         ? e.n : 0;
}

uint32_t tg_replay_marker_from (const tg_Replay *r, uint64_t number) {
  uint32_t low = 0, high = r->nmarkers;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (r->markers[middle].number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool tg_replay_marker (tg_Replay *r, const tg_ReplayMarker *m, tg_Packet *out) {
  tg_Event e;
  if (!event_at(r, m->at, &e) || e.kind != TG_EV_MARK)
    return false;
  *out = (tg_Packet){
    .why = TG_WHY_MARK, .sequence = m->number, .time_ns = m->time_ns,
    .thread = m->thread, .depth = m->depth,
    .mark = (uint8_t)(e.mark & TG_MARK_SORT),
    .groups = (uint8_t)(e.mark >> TG_MARK_GROUPSHIFT),
    .numbered = (e.flags & TG_EVF_NUMBER) != 0, .hits = e.number,
    .caller = e.caller, .line = e.line, .values = e.values
  };
  hide(r, out);
  return r->status != TG_ERR_MEMORY;
}

/* }================================================================== */
