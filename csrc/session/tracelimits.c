/*
** tracelimits.c - when a trace must end, and what becomes of the writer's room.
** Called by the writer when its room, a count or a time is used up ('turn'),
** and when traces come and go; in the hook, on the traced thread. Nothing
** raises; what cannot be kept ends a trace, and is counted.
*/
#include <errno.h>
#include <string.h>

#include "session/tracelimits.h"
#include "session/allocations.h"
#include "session/collections.h"
#include "session/heap.h"
#include "session/tracefile.h"
#include "session/traceinfo.h"
#include "state/awaited.h"

/* From where a trace's buffer counts. Of a trace that somebody reads as it
   goes, what has been read counts no more; on a file all counts; a live log's
   is empty, since it is pumped after each event. */
static tg_Pos kept_from (const tg_Session *s, const tg_Trace *t) {
  if (t->follower != NULL)
    return tg_follower_pos(t->follower);
  if (t->consumer != NULL)
    return tg_reader_pos(t->consumer);
  if (t->plan != NULL)
    return t->start;
  return t->consumed ? tg_writer_pos(&s->writer) : tg_cursor_pos(&t->hold);
}

/* A ring gives up its oldest chunk; false if that is its last. What it had of
   packets is told by the counts with which chunks begin; of the first one only
   those from the trace's own beginning. */
static bool drop_oldest (tg_Trace *t) {
  tg_assert(!t->consumed && t->hold.chunk != NULL);
  uint64_t before = t->hold.chunk->packets;
  if (before < t->packets_start)
    before = t->packets_start;
  if (!tg_cursor_advance(&t->hold))
    return false;
  if (t->follower == NULL)      /* a follower counts its own losses */
    t->lost[TG_LOSS_RING] += t->hold.chunk->packets - before;
  t->start = tg_cursor_pos(&t->hold);
  return true;
}

/* What a loose follower has read is not kept until the ring is full: a chunk
   that is used again is still in the processor's cache. */
static void drop_read (tg_Trace *t) {
  tg_Pos read = tg_follower_pos(t->follower);
  const tg_Chunk *c = t->hold.chunk;
  while (c->base + tg_block_used(c->block) <= read && drop_oldest(t))
    c = t->hold.chunk;
}

/* A ring's hold goes on to the chunk where what is kept begins. By whole
   chunks: a reader can begin nowhere but at a CONTEXT, and each chunk has
   one at its beginning. So up to a chunk less is kept than the buffer would
   hold. */
static void move_ring (tg_Session *s, tg_Trace *t, size_t need) {
  tg_Pos pos = tg_writer_pos(&s->writer);
  if (t->follower != NULL)
    drop_read(t);
  while (pos + need - tg_cursor_pos(&t->hold) > t->options.buffer
         && drop_oldest(t))
    continue;
}

/* The session's count at which 't' may have all the packets it wants. The sum
   may be more than a count can be, which means: never. */
static uint64_t packets_wanted (const tg_Trace *t) {
  uint64_t n = t->options.max_events;
  if (n == 0 || n > UINT64_MAX - t->packets_start)
    return UINT64_MAX;
  return t->packets_start + n;
}

/*
** Whether 't' has all the packets it wants. The session's count is an upper
** bound: it has those that other traces ask for, and the exits of frames that
** were open when 't' started. So what 't' really has is counted, as far as it
** has not been before, and the next look is when the rest may be there. Without
** that a trace with maxEvents = 10 beside a busy one would end after 10 of the
** other's.
*/
static bool has_all (tg_Session *s, tg_Trace *t) {
  tg_Packet p;
  if (s->writer.packets < t->packets_stop)
    return false;
  bool held = !t->consumed && t->options.overflow != TG_OVERFLOW_RING;
  if (t->counter == NULL && held)
    t->counter = tg_traceinfo_reader(t);
  if (t->counter == NULL)
    return true;        /* its packets cannot be counted: the bound counts */
  while (tg_reader_next(t->counter, tg_writer_pos(&s->writer), &p))
    t->counted++;
  if (t->counted >= t->options.max_events)
    return true;
  t->packets_stop = s->writer.packets + t->options.max_events - t->counted;
  return false;
}

/* Names and samples of other traces are no matter of a trace without any. */
static void count_lacks (const tg_Session *s, tg_Trace *t) {
  const tg_Options *o = &t->options;
  bool *counts = t->before.counts;
  tg_lacks_from(&s->writer.stream->lacks, &t->before);
  counts[TG_LACK_UNSEEN] = counts[TG_LACK_MISSED] = true;
  counts[TG_LACK_SAMPLES] = o->sample > 0;
  counts[TG_LACK_FUNCTIONS] = true;
  counts[TG_LACK_NAMES] = o->include.count + o->exclude.count
                          + o->redact.count + o->on.count > 0;
}

/* Facts are noted before the CONTEXT is written, but for the epoch, which
   begins with it. A trace that is consumed holds nothing: its reader does. */
bool tg_tracelimits_begin (tg_Session *s, tg_Trace *t, uint64_t now) {
  tg_Writer *r = &s->writer;
  t->ticks_start = now;
  t->packets_start = r->packets;
  count_lacks(s, t);
  if (!tg_writer_mark(r, now, UINT64_MAX, &t->start))
    return false;
  t->epoch_start = r->epoch;
  t->packets_stop = packets_wanted(t);
  return t->consumed
         || tg_cursor_place(&t->hold, &r->stream->store, t->start);
}

/* 9e18 is less than the largest uint64_t, and later than anybody will live to
   see. */
static uint64_t ticks_limit (const tg_Session *s, const tg_Trace *t) {
  double ticks = (double)t->options.duration_ns
                 / s->writer.stream->clock.ns_per_tick;
  if (t->options.duration_ns == 0 || ticks > 9e18)
    return UINT64_MAX;
  return t->ticks_start + (uint64_t)ticks;
}

/* Whether the trace's buffer takes 'need' more bytes; may wait for it. The
   wait is the one place where the hook sleeps; it ends when the reader stands
   still (follower.h), and when the trace's time is over. */
static bool fits (tg_Session *s, const tg_Trace *t, size_t need) {
  const tg_Options *o = &t->options;
  tg_Pos pos = tg_writer_pos(&s->writer);
  if (t->follower == NULL)
    return pos + need - kept_from(s, t) <= o->buffer;
  uint64_t before = t->follower->waited;
  uint64_t until = o->overflow == TG_OVERFLOW_WAIT ? ticks_limit(s, t) : 0;
  bool fit = tg_follower_admit(t->follower, pos, need, o->buffer, until);
  if (t->follower->waited > before) {
    s->after.waited += t->follower->waited - before;
    tg_session_request_attention(s);
  }
  return fit;
}

/* How a trace ends now, if it does: it needs 'need' more bytes. The exact
   count comes before the time and the room, so that a trace that has all it
   wanted is not said to lack something. */
static tg_End reached (tg_Session *s, tg_Trace *t, size_t need,
                       uint64_t now) {
  if (t->file != NULL && tg_filewriter_error(t->file) != 0)
    return tg_tracefile_end(t);
  if (has_all(s, t))
    return TG_END_EVENTS;
  if (now >= ticks_limit(s, t))
    return TG_END_DURATION;
  if (t->options.overflow == TG_OVERFLOW_RING && !t->consumed) {
    move_ring(s, t, need);
    return TG_END_NOT;
  }
  if (fits(s, t, need))
    return TG_END_NOT;
  return tg_clock_ticks() < ticks_limit(s, t) ? TG_END_OVERFLOW
                                              : TG_END_DURATION;
}

/* The trace feeds its follower no more; the follower itself goes with the
   last who reads it. */
static void leave_follower (tg_Trace *t) {
  if (t->follower != NULL) {
    tg_follower_part(t->follower, t->stop, t->ticks_end);
    tg_follower_unpin(t->follower);
    t->follower = NULL;
  }
}

/* When the trace ends now. What was waited and has not been told of is left out
   of its time. One whose time was over before the event at which that is seen
   has ended then: the program may have slept. */
static uint64_t end_time (const tg_Session *s, const tg_Trace *t, tg_End why) {
  uint64_t now = tg_clock_ticks() - s->after.waited, limit = ticks_limit(s, t);
  return (why == TG_END_DURATION && limit < now) ? limit : now;
}

/* What follows from it (traces leave the list, the selection gets less) is left
   to 'attend', after the event: here the writer is in the middle of one.
   The trace whose file does not take a definition (emit.c) ends where that
   was, not here. */
void tg_tracelimits_end (tg_Session *s, tg_Trace *t, tg_End why) {
  bool torn = s->file.torn && t == s->file.trace;
  tg_assert(t->session == s && t->end == TG_END_NOT && why != TG_END_NOT);
  t->end = torn ? tg_tracefile_end(t) : why;
  t->stop = torn ? s->file.torn_at : tg_writer_pos(&s->writer);
  t->packets_end = torn ? s->file.torn_packets : s->writer.packets;
  t->ticks_end = end_time(s, t, t->end);
  t->older_end = tg_traceinfo_older_frames(s, t);
  tg_reader_free(t->counter);
  t->counter = NULL;
  leave_follower(t);
  tg_tracefile_ended(s, t);
  s->after.stale = true;
  tg_session_request_attention(s);
}

/* The old hold is dropped last: else the chunks between would be freed before
   the new one pins them, and a ring would have lost its last. */
bool tg_tracelimits_again (tg_Session *s, tg_Trace *t, uint64_t now) {
  tg_Cursor before = t->hold;
  t->hold = (tg_Cursor){0};
  tg_reader_free(t->counter);
  t->counter = NULL;
  t->counted = 0;
  memset(t->lost, 0, sizeof t->lost);
  tg_awaited_restart(t);
  bool ok = tg_tracelimits_begin(s, t, now);
  tg_cursor_drop(&before);
  if (ok)
    tg_tracefile_moved(s, t);
  else
    tg_tracelimits_end(s, t, TG_END_MEMORY);
  return ok;
}

/* A ring is asked often, as nothing but 'turn' moves its hold. At least 'need'
   bytes are granted, or the writer would ask without end. */
tg_Pos tg_tracelimits_next (const tg_Session *s, size_t need) {
  tg_Pos stop = UINT64_MAX;
  tg_Pos here = tg_writer_pos(&s->writer);
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next) {
    tg_Pos p = UINT64_MAX;
    if (t->end != TG_END_NOT)
      continue;
    if (t->options.overflow == TG_OVERFLOW_RING && !t->consumed)
      p = here + t->options.buffer / 8;
    else if (!t->consumed || t->consumer != NULL || t->follower != NULL
             || t->plan != NULL)
      p = kept_from(s, t) + t->options.buffer;
    if (p < here + need)
      p = here + need;
    if (p < stop)
      stop = p;
  }
  return stop;
}

/* A count of 0 brings 'turn' with each event: of a torn file nothing more may
   be written, and the end of its trace is due. */
void tg_tracelimits_set (tg_Session *s) {
  s->writer.packets_stop = s->file.torn ? 0 : UINT64_MAX;
  s->next_stop = s->memory.heap_due;
  s->recording = false;
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->end != TG_END_NOT)
      continue;
    s->recording = true;
    uint64_t ticks = ticks_limit(s, t);
    if (t->packets_stop < s->writer.packets_stop)
      s->writer.packets_stop = t->packets_stop;
    if (ticks < s->next_stop)
      s->next_stop = ticks;
  }
  if (s->rare.ticks > 0 && s->rare.until < s->next_stop)
    s->next_stop = s->rare.until;
  s->writer.ticks_stop = tg_allocations_due(s) ? 0 : s->next_stop;
}

/* A signal asks for a snapshot, or somebody outside for something else. A
   signal handler has lowered the writer's limit to bring it here, and may do so
   between any two instructions. So this is asked before the limit is worked out
   again: what came earlier is seen here. And once more after: what came
   meanwhile is seen then, if its lower limit has been overwritten. */
static void note_wishes (tg_Session *s) {
  if (atomic_exchange(&s->after.button, false)) {
    s->after.snapshot = true;
    tg_session_request_attention(s);
  }
  if (tg_host_called(&s->host))
    tg_session_request_attention(s);
}

/* The chunk in which it has begun is the last. */
void tg_tracelimits_keep_makers (tg_Trace *t) {
  if (t->makers.store == NULL)
    (void)tg_cursor_place(&t->makers, &t->stream->store, t->start);
}

/* Nothing is known any more of who made what, rather than that the program's
   memory grows without end. */
static void bound_makers (const tg_Session *s, tg_Trace *t) {
  if (t->makers.store != NULL
      && (t->end != TG_END_NOT || tg_writer_pos(&s->writer)
          - tg_cursor_pos(&t->makers) > TG_MAKERS_MOST))
    tg_cursor_drop(&t->makers);
}

/* Several may come to their limits with one event. */
static void end_reached (tg_Session *s, size_t need, uint64_t now) {
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    bound_makers(s, t);
    tg_End why = (t->end == TG_END_NOT) ? reached(s, t, need, now)
                                        : TG_END_NOT;
    if (why != TG_END_NOT)
      tg_tracelimits_end(s, t, why);
  }
  tg_tracelimits_set(s);
}

static void end_all (tg_Session *s, tg_End why) {
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->end == TG_END_NOT)
      tg_tracelimits_end(s, t, why);
  }
  tg_tracelimits_set(s);
}

/* Whether the file of a ring, which cannot grow, has got a block back. */
static bool feed_file (tg_Session *s) {
  tg_Trace *t = s->file.trace;
  if (t == NULL)
    return false;
  if (tg_filewriter_starved(t->file) && tg_cursor_keeps(&t->hold)
      && drop_oldest(t))
    return true;
  tg_filewriter_starve(t->file);
  return false;
}

/* There was no chunk to be had: from a file whose file cannot grow (the others
   go on in memory), or at all. */
static void end_refused (tg_Session *s) {
  if (feed_file(s))
    return;
  if (s->file.trace != NULL && tg_filewriter_error(s->file.trace->file) != 0)
    tg_tracelimits_end(s, s->file.trace, tg_tracefile_end(s->file.trace));
  else
    end_all(s, TG_END_MEMORY);
}

/* In a forked child: the trace that was on the parent's file begins anew, on
   its own. */
static void adopt_orphan (tg_Session *s, uint64_t now) {
  tg_Trace *t = s->file.orphan;
  tg_assert(t->session == s && t->end == TG_END_NOT);
  tg_End why = tg_tracefile_again(s, t);
  if (why == TG_END_NOT && !tg_tracelimits_begin(s, t, now))
    why = TG_END_MEMORY;
  if (why == TG_END_NOT)
    tg_tracefile_started(s, t);
  else
    tg_tracelimits_end(s, t, why);
}

/* Whether nothing but what was allocated has brought the writer here, and there
   is room to tell of it: then that is all there is to do. A signal handler that
   asks for something takes the room away (note_wishes). */
static bool note_allocations (tg_Session *s, size_t need, uint64_t now) {
  const tg_Writer *r = &s->writer;
  if (!tg_allocations_due(s) || now >= s->next_stop
      || r->packets >= r->packets_stop
      || (size_t)(r->lim - r->p) < need + tg_allocations_room(s))
    return false;
  tg_allocations_note(s, now);
  s->writer.ticks_stop = tg_allocations_due(s) ? 0 : s->next_stop;
  return true;
}

/* What the event before had to wait for is told before this one. */
static void note_overhead (tg_Session *s) {
  tg_writer_overhead(&s->writer, s->rare.ticks, s->rare.until);
  s->rare.ticks = 0;
}

/* The writer has come to a limit. A new chunk begins with a CONTEXT, which may
   take what was granted: then it is asked for again. The loop ends: each round
   ends a trace, drops a chunk of a ring, or gets room. errno is the program's,
   and must survive a hook. */
void tg_tracelimits_turn (tg_Writer *r, size_t need, uint64_t now) {
  tg_Session *s = (tg_Session *)(void *)((char *)r
                                         - offsetof(tg_Session, writer));
  int error = errno;    /* the program's */
  bool heap = tg_heap_due(s, now), metered = s->memory.meter != NULL;
  bool overhead = s->rare.ticks > 0 && now >= s->rare.until;
  const tg_Chunk *before = r->chunk;
  uint64_t begun = tg_clock_ticks();
  tg_assert(tg_session_traces(s) && need > 0);
  if (s->phase == TG_PHASE_TERMINATED)
    return;             /* nothing comes after the end */
  if (note_allocations(s, need, now))
    return;
  if (metered && !s->memory.meter->based)
    tg_allocations_base(s);
  need += (heap ? TG_HEAP_ROOM : 0u) + (metered ? tg_allocations_room(s) : 0u)
          + (overhead ? TG_OVERHEAD_SIZE : 0u);
  if (s->file.orphan != NULL)
    adopt_orphan(s, now);
  note_wishes(s);
  do {
    end_reached(s, need, now);
    if (!s->recording)
      tg_writer_close(r);
    else if (!tg_writer_open(r, need, now, tg_tracelimits_next(s, need)))
      end_refused(s);
  } while (s->recording && (size_t)(r->lim - r->p) < need);
  if (overhead && s->recording)
    note_overhead(s);
  if (s->recording)
    tg_collections_note(s, now);        /* these are of before */
  if (heap && s->recording)
    tg_heap_note(s, now);
  if (tg_allocations_due(s) && s->recording)
    tg_allocations_note(s, now);
  if (heap || metered || overhead)
    tg_tracelimits_set(s);
  if (r->chunk != before)
    tg_session_overhead(s, begun);
  note_wishes(s);
  errno = error;
}

/* From here on the session's counts do not count for it: it may be gone from
   the list, and others go on to lose. */
void tg_tracelimits_close (tg_Trace *t) {
  uint64_t lost[TG_NLOSSES];
  tg_traceinfo_losses(t, lost);
  memcpy(t->lost, lost, sizeof lost);
  tg_tracefile_closed(t);
}

void tg_tracelimits_finish (tg_Session *s) {
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->file == NULL)
      continue;
    if (t->end == TG_END_NOT)
      tg_tracelimits_end(s, t, TG_END_STOPPED);
    tg_tracelimits_close(t);
  }
}
