/*
** writer.c - see writer.h.
**
** Owned by a session, used in the hook on the traced thread. Everything here is
** the slow way: a chunk is full, a limit is reached, a long time has passed. No
** room is no failure: 'lim' is then where the writer is, tg_writer_begin says
** NULL, and the packets are counted all the same.
**
** Which limits there are the writer does not know: it asks 'turn', which is the
** session's, and is told how far it may go. So a writer without a session (a
** client's, of packets) has the same events by the same code.
*/
#include "stream/writer.h"

/* 0 before the first chunk: streams begin there. */
tg_Pos tg_writer_pos (const tg_Writer *r) {
  if (r->chunk == NULL)
    return 0;
  return r->chunk->base + (tg_Pos)(r->p - r->block->data);
}

/* No room at all: the next event asks for some, and 'turn' decides. */
void tg_writer_close (tg_Writer *r) {
  r->lim = r->p;
}

/* Nothing more goes into this chunk, whatever room there is: it is another's
   file by now, or complete. */
void tg_writer_seal (tg_Writer *r) {
  r->sealed = true;
  tg_writer_close(r);
}

/* Where a chunk ends, or where the first trace has had enough. */
static void set_limit (tg_Writer *r, tg_Pos stop) {
  tg_assert(r->p == r->block->data + tg_block_used(r->block));
  uint8_t *end = (uint8_t *)r->block + r->chunk->size;
  tg_Pos here = tg_writer_pos(r);
  size_t left = (size_t)(end - r->p);
  if (stop > here && stop - here < left)
    left = (size_t)(stop - here);
  r->lim = (stop > here) ? r->p + left : r->p;
  tg_assert(r->p <= r->lim && r->lim <= end);
}

/* A CONTEXT at the writing position; the caller has seen to the room. What was
   described before it is described again: a reader may begin here. */
static void put_context (tg_Writer *r, uint64_t now) {
  bool listed = false;
  if (now > r->last)
    r->last = now;
  uint8_t *p = tg_put64(r->p + 4, r->last);
  p = r->context(r, p, &listed);
  uint32_t flags = TG_EVF_PLACES | (listed ? TG_EVF_LIST : 0u);
  if (r->pending && !r->behind)
    flags |= TG_EVF_AHEAD;
  tg_put32(r->p, TG_EV_CONTEXT | flags);
  tg_assert(p <= r->p + TG_CONTEXT_MAX);
  r->origin = r->p;
  r->p = p;
  r->epoch++;
  tg_block_commit(r->block, p);
}

/* A chunk begins with a CONTEXT, so a ring can drop all before it. */
static bool new_chunk (tg_Writer *r, size_t need, uint64_t now) {
  tg_Chunk *c = tg_store_grow(&r->stream->store, need + TG_CONTEXT_MAX,
                              r->packets);
  if (c == NULL)
    return false;
  r->chunk = c;
  r->block = c->block;
  r->p = r->block->data;
  r->sealed = false;
  put_context(r, now);
  return true;
}

/* The room that is left may have been closed by a limit that is further away by
   now: that is looked at first. */
bool tg_writer_open (tg_Writer *r, size_t need, uint64_t now, tg_Pos stop) {
  if (r->chunk != NULL && !r->sealed) {
    set_limit(r, stop);
    if ((size_t)(r->lim - r->p) >= need)
      return true;
  }
  if (!new_chunk(r, need, now)) {
    tg_writer_close(r);
    return false;
  }
  set_limit(r, stop);
  return true;
}

/* A place where a reader may begin: a CONTEXT, in this chunk if there is room
   for one. False without memory. */
bool tg_writer_mark (tg_Writer *r, uint64_t now, tg_Pos stop, tg_Pos *mark) {
  size_t room = 0;
  if (r->chunk != NULL && !r->sealed)
    room = (size_t)((uint8_t *)r->block + r->chunk->size - r->p);
  if (room >= TG_CONTEXT_MAX) {
    *mark = tg_writer_pos(r);
    put_context(r, now);
  }
  else {
    if (!new_chunk(r, 0, now))
      return false;
    *mark = r->chunk->base;
  }
  set_limit(r, stop);
  return true;
}

void tg_writer_overhead (tg_Writer *r, uint64_t overhead, uint64_t until) {
  tg_assert((size_t)(r->lim - r->p) >= TG_OVERHEAD_SIZE);
  if (until > r->last)
    r->last = until;
  uint8_t *p = tg_put32(r->p, TG_EV_TIME | TG_EVF_OVERHEAD);
  tg_writer_end(r, tg_put64(tg_put64(p, r->last), overhead));
}

/* No TIME comes before it: another processor's clock, or a gap that a head
   cannot tell, shows nothing of the hook's work. */
void tg_writer_gauge (tg_Writer *r) {
  uint64_t now = tg_clock_ticks();
  r->gauge_in = TG_GAUGE_EVERY;
  if ((size_t)(r->lim - r->p) < TG_GAUGE_SIZE
      || now - r->last > TG_EV_DELTAMAX)
    return;
  tg_writer_end(r, tg_writer_head(r, r->p, TG_EV_TIME | TG_EVF_GAUGE, now));
}

/* The clock went on for longer than a head can say, or (another processor)
   went back a little: then time stands still for one event. */
static uint8_t *put_time (tg_Writer *r, uint64_t now) {
  uint8_t *p = tg_put32(r->p, TG_EV_TIME);
  p = tg_put64(p, (now > r->last) ? now : r->last);
  r->last = now;
  tg_writer_end(r, p);
  return p;
}

void tg_writer_time (tg_Writer *r, uint64_t now) {
  if (now - r->last > TG_EV_DELTAMAX)   /* or went back: it wraps round */
    put_time(r, now);
}

/* 'turn' may find that nobody records any more, or that there is no memory:
   then there is no room. Room for a TIME is asked for in any case: whether one
   comes is known only when 'turn' has been heard, which may begin a chunk. */
uint8_t *tg_writer_slow (tg_Writer *r, size_t need, uint64_t now) {
  if (r->packets >= r->packets_stop || now >= r->ticks_stop
      || (size_t)(r->lim - r->p) < need + TG_TIME_SIZE) {
    r->pending = true;
    r->turn(r, need + TG_TIME_SIZE, now);
    r->pending = false;
    if ((size_t)(r->lim - r->p) < need + TG_TIME_SIZE)
      return NULL;
  }
  tg_writer_time(r, now);
  tg_assert((size_t)(r->lim - r->p) >= need);
  return r->p;
}
