/*
** follower.c - a reader and a writer that keep in step by two positions: how
** far it has been read, and how far it must be for the writer to go on.
**
** Two threads, as follower.h says; each position is written by one of them. The
** store's condition wakes both. A wake-up may come between a look and the wait
** and be missed, so nobody waits longer than SLICE at a time: a mutex around
** the look would be one that the hook has to take for every event.
**
** A reader that cannot go on, or leaves, is noticed by the writer at the latest
** when 'stall_ns' have passed without progress.
*/
#include "reader/follower.h"

#include "base/alloc.h"
#include "base/refs.h"

#define STEP ((tg_Pos)4096)             /* bytes between words of progress */
#define SLICE UINT64_C(2000000)         /* ns: a wake-up may be missed */

/* All positions begin at 'from': nothing was read, and nothing is wanted. */
static tg_Follower *new_follower (tg_Stream *stream, tg_Pos from,
                                  uint64_t stall_ns) {
  tg_Follower *t = tg_calloc(1, sizeof *t);
  if (t == NULL)
    return NULL;
  t->stream = tg_stream_pin(stream);
  t->stall_ns = stall_ns;
  t->limit = from;
  t->upto = TG_FOLLOWER_NONE;
  atomic_init(&t->refs, 1);
  atomic_init(&t->read, from);
  atomic_init(&t->end, from);
  atomic_init(&t->wanted, TG_FOLLOWER_NONE);
  return t;
}

/* NULL without memory. Its reader reads nothing before it is told to begin. */
tg_Follower *tg_follower_new (tg_Stream *stream, tg_Pos from,
                              const tg_Selection *selection,
                              uint64_t stall_ns) {
  tg_Follower *t = new_follower(stream, from, stall_ns);
  if (t == NULL)
    return NULL;
  t->reader = tg_reader_new(stream, from, selection);
  if (t->reader == NULL) {
    tg_follower_unpin(t);
    return NULL;
  }
  tg_reader_mark(t->reader);
  return t;
}

/* The trace has just begun at 'from', so that place is there. */
tg_Follower *tg_follower_new_bytes (tg_Stream *stream, tg_Pos from,
                                    bool loose, uint64_t stall_ns) {
  tg_Follower *t = new_follower(stream, from, stall_ns);
  if (t == NULL)
    return NULL;
  if (!tg_cursor_place(&t->cursor, &stream->store, from)) {
    tg_follower_unpin(t);
    return NULL;
  }
  t->loose = loose;
  if (loose)
    tg_cursor_loosen(&t->cursor);
  return t;
}

tg_Follower *tg_follower_pin (tg_Follower *t) {
  tg_refs_pin(&t->refs);
  return t;
}

/* The last one frees the reader, on whichever thread that is: by then nobody
   else has it. */
void tg_follower_unpin (tg_Follower *t) {
  if (t == NULL || !tg_refs_unpin(&t->refs))
    return;
  tg_reader_free(t->reader);
  tg_cursor_drop(&t->cursor);
  tg_stream_unpin(t->stream);
  tg_free(t);
}

/*
** {==================================================================
** The reader's thread
** ===================================================================
*/

tg_Pos tg_follower_place (const tg_Follower *t) {
  return t->reader != NULL ? tg_reader_pos(t->reader)
                           : tg_cursor_pos(&t->cursor);
}

tg_Pos tg_follower_committed (const tg_Follower *t) {
  return t->reader != NULL ? tg_reader_committed(t->reader)
                           : tg_cursor_committed(&t->cursor);
}

/* Tells how far the follower has read, and wakes the writer that waits for
   it. */
static void tell (tg_Follower *t) {
  tg_Pos pos = tg_follower_place(t);
  tg_assert(pos >= tg_follower_pos(t));
  if (pos == tg_follower_pos(t))
    return;
  atomic_store(&t->read, pos);
  if (pos >= atomic_load(&t->wanted))
    tg_store_wake(&t->stream->store);
}

/*
** Whether more may be read than before. What is committed is looked at first:
** other traces may write on where this follower's have ended, and whoever sees
** such an event sees that end too.
*/
static bool extend (tg_Follower *t) {
  tg_Pos limit = tg_follower_committed(t);
  tg_Pos end = atomic_load(&t->end);
  if (atomic_load(&t->traces) == 0 && limit > end)
    limit = end;
  if (limit <= t->limit)
    return false;
  t->limit = limit;
  return true;
}

/* Not beyond this place, whatever is committed: see clientstream.c. */
void tg_follower_upto (tg_Follower *t, tg_Pos pos) {
  t->upto = pos;
}

/* The nearer one of what may be read and what was asked for. */
static tg_Pos bound (const tg_Follower *t) {
  return (t->upto < t->limit) ? t->upto : t->limit;
}

/* A reader that stops before its bound has all packets that it was asked
   for. */
tg_Pos tg_follower_done (const tg_Follower *t) {
  return (tg_follower_place(t) < bound(t)) ? t->upto : bound(t);
}

uint64_t tg_follower_ended_at (const tg_Follower *t) {
  tg_Follower *mine = (tg_Follower *)(uintptr_t)t;
  return atomic_load(&mine->traces) == 0 ? atomic_load(&mine->end_ticks)
                                         : UINT64_MAX;
}

/* False without memory. A reader that stands there already only gets its time
   and its selection. */
bool tg_follower_begin (tg_Follower *t, tg_Pos from, uint64_t ticks,
                        const tg_Selection *selection) {
  if (t->reader == NULL)
    return true;
  if (tg_reader_pos(t->reader) == from) {
    tg_reader_time_from(t->reader, ticks);
    return tg_reader_reselect(t->reader, selection);
  }
  tg_Reader *r = tg_reader_new(t->stream, from, selection);
  if (r == NULL)
    return false;
  tg_reader_mark(r);
  tg_reader_time_from(r, ticks);
  tg_reader_free(t->reader);
  t->reader = r;
  return true;
}

/* Progress is told every STEP bytes, and when there is nothing more: an atomic
   store for each packet would be one more miss of the cache for both. */
bool tg_follower_next (tg_Follower *t, tg_Packet *out) {
  do {
    if (tg_reader_next(t->reader, bound(t), out)) {
      if (tg_reader_pos(t->reader) - tg_follower_pos(t) >= STEP)
        tell(t);
      return true;
    }
    tell(t);
  } while (tg_reader_pos(t->reader) >= t->limit && t->limit < t->upto
           && extend(t));
  return false;
}

/* On to the chunk where there is something; a loose one may find itself beyond
   the bound. False: there is none as yet. */
static bool find_bytes (tg_Follower *t) {
  const uint8_t *data;
  while (tg_cursor_peek(&t->cursor, &data) == 0) {
    const tg_Chunk *c = t->cursor.chunk;
    if (atomic_load_explicit(&c->next, memory_order_acquire) == NULL)
      return false;
    if (tg_cursor_peek(&t->cursor, &data) > 0)
      break;              /* its last bytes, which came after the first look */
    if (!tg_cursor_advance(&t->cursor))
      return false;
    t->missed += t->cursor.missed;
  }
  return tg_follower_place(t) < bound(t);
}

/* Only a chunk that is begun is described; events are whole at its end, and at
   any place that was committed or asked for (tg_follower_upto). */
bool tg_follower_stretch (tg_Follower *t, tg_Stretch *out) {
  tg_assert(t->reader == NULL);
  extend(t);
  if (!find_bytes(t)) {
    tell(t);
    return false;
  }
  const tg_Chunk *c = t->cursor.chunk;
  tg_Pos left = bound(t) - tg_follower_place(t);
  *out = (tg_Stretch){
    .begins = t->cursor.offset == 0, .room = c->size - sizeof(tg_Block),
    .packets = c->packets, .missed = t->missed
  };
  t->missed = 0;
  out->bytes.size = tg_cursor_peek(&t->cursor, &out->bytes.data);
  if (out->bytes.size > left)
    out->bytes.size = (size_t)left;
  t->cursor.offset += (uint32_t)out->bytes.size;
  tell(t);
  return true;
}

/* Only where there is something to wait for: a trace that may write, and no
   writer that waits for us. */
void tg_follower_wait (tg_Follower *t, uint64_t ns) {
  if (atomic_load(&t->traces) > 0
      && atomic_load(&t->wanted) == TG_FOLLOWER_NONE)
    tg_store_wait(&t->stream->store, ns);
}

/* A reader that does not come to its limit has all that it was asked for, or
   has failed. */
tg_FollowerState tg_follower_state (const tg_Follower *t) {
  tg_Follower *mine = (tg_Follower *)(uintptr_t)t;
  if (t->reader != NULL && tg_reader_status(t->reader) != TG_OK)
    return TG_FOLLOWER_BROKEN;
  if (tg_follower_place(t) < t->limit)
    return TG_FOLLOWER_ENDED;
  if (atomic_load(&mine->traces) == 0
      && tg_follower_place(t) >= atomic_load(&mine->end))
    return TG_FOLLOWER_ENDED;
  return TG_FOLLOWER_RUNNING;
}

/* The writer looks at 'gone' before it waits and while it does. */
void tg_follower_leave (tg_Follower *t) {
  atomic_store(&t->gone, true);
  tg_store_wake(&t->stream->store);
}

/* }================================================================== */

/*
** {==================================================================
** The traced thread
** ===================================================================
*/

/* Before the trace's first event: a reader that sees that event sees the
   trace. */
void tg_follower_join (tg_Follower *t) {
  atomic_fetch_add(&t->traces, 1);
}

/* The end first: a reader that sees no trace any more sees where they ended,
   and when. */
void tg_follower_part (tg_Follower *t, tg_Pos end, uint64_t ticks) {
  tg_assert(atomic_load(&t->traces) > 0);
  if (end > atomic_load(&t->end))
    atomic_store(&t->end, end);
  if (ticks > atomic_load(&t->end_ticks))
    atomic_store(&t->end_ticks, ticks);
  atomic_fetch_sub(&t->traces, 1);
  tg_store_wake(&t->stream->store);
}

/* Waits for 'read' to come to 'wanted' as long as it moves, and no longer than
   'until'. */
static void wait_for (tg_Follower *t, tg_Pos wanted, uint64_t until) {
  tg_Pos before = tg_follower_pos(t);
  uint64_t since = tg_clock_monotonic_ns();
  atomic_store(&t->wanted, wanted);
  tg_store_wake(&t->stream->store);
  while (tg_follower_pos(t) < wanted && !atomic_load(&t->gone)
         && tg_clock_ticks() < until) {
    uint64_t now = tg_clock_monotonic_ns();
    if (tg_follower_pos(t) != before) {
      before = tg_follower_pos(t);
      since = now;
    }
    else if (now - since >= t->stall_ns)
      break;
    tg_store_wait(&t->stream->store, SLICE);
  }
  atomic_store(&t->wanted, TG_FOLLOWER_NONE);
}

/* With nothing unread before it, an event of any size fits. */
static bool fits (const tg_Follower *t, tg_Pos pos, size_t need,
                  uint64_t buffer) {
  tg_Pos read = tg_follower_pos(t);
  return read >= pos || pos - read + need <= buffer;
}

/* Who waits waits for half of the buffer, not to wait again at once. */
bool tg_follower_admit (tg_Follower *t, tg_Pos pos, size_t need,
                        uint64_t buffer, uint64_t until) {
  if (fits(t, pos, need, buffer))
    return true;
  if (until == 0 || t->stall_ns == 0)
    return false;
  uint64_t before = tg_clock_ticks();
  wait_for(t, (need > buffer / 2) ? pos : pos + need - buffer / 2, until);
  t->waited += tg_clock_ticks() - before;
  return fits(t, pos, need, buffer);
}

/* }================================================================== */
