/*
** writer.h - the writing end of a stream: room for events, their heads, and
** the count of packets that they will come to.
**
** Owned by a session, used on the traced thread only. It never fails loudly:
** when an event cannot be kept, tg_writer_begin says NULL, the packets are
** counted all the same, and the difference is the loss. What to do when room
** or time or a count is used up is the session's to say, in 'turn'.
*/
#ifndef TG_WRITER_H
#define TG_WRITER_H

#include "base/base.h"
#include "stream/event.h"
#include "stream/stream.h"

/* A long string in the stream: the next time a few bytes say so. (Short ones:
   state/words.h.) */
typedef struct tg_Written {
  const char *string;     /* its address in Lua; it may be gone by now */
  size_t size;
  const uint8_t *grip;    /* borrows from the chunk, as the next */
  const uint8_t *bytes;   /* those captured */
  uint32_t kept;          /* how many */
  uint32_t epoch;         /* nobody who starts later can look there */
} tg_Written;

#define TG_WRITTEN 128      /* by address */

typedef struct tg_Writer tg_Writer;

struct tg_Writer {
  uint8_t *p;             /* where the next event goes */
  uint8_t *lim;           /* end of the room; == p: nothing is recorded */
  uint64_t last;          /* ticks of the event before */
  uint64_t packets;       /* packets so far, recorded or lost */
  uint32_t gauge_in;      /* quick events until one is gauged */
  uint64_t packets_stop;  /* 'turn' is asked when the count is here */
  uint64_t ticks_stop;    /* 'turn' is asked when the time is here */
  tg_Chunk *chunk;        /* borrows from the stream; NULL at first */
  tg_Block *block;        /* its block */
  const uint8_t *origin;  /* borrows: the last CONTEXT, from which places are
                             told (values.h) */
  bool sealed;            /* nothing more goes into this chunk */
  uint32_t epoch;         /* changes wherever a reader may start: what was
                             described in an earlier one is described again */
  tg_Stream *stream;      /* pins */
  tg_Written written[TG_WRITTEN];

  /* A limit is reached or the room is used up: ends traces that are at their
     limit, then calls tg_writer_open if anybody still records. */
  void (*turn) (tg_Writer *r, size_t need, uint64_t now);
  /* Writes the running chain at 'p', returns the end; at most
     TG_CONTEXT_MAX bytes. With its frames, if 'lists', and if they are not too
     many; '*listed' says so. */
  uint8_t *(*context) (tg_Writer *r, uint8_t *p, bool *listed);
  bool lists;             /* somebody may come here after a LOST (event.h) */
  bool pending;           /* an event waits for room: the chain is as it will
                             be after that... */
  bool behind;            /* ...or as it was before */
};

#define TG_CONTEXT_THREADS 1024
#define TG_CONTEXT_FRAMES 2048  /* with more there is no list */
#define TG_CONTEXT_MAX \
  (20 + 8 * TG_CONTEXT_THREADS + 4 * TG_CONTEXT_FRAMES)

/* Position of the next event. */
tg_Pos tg_writer_pos (const tg_Writer *r);

/*
** Makes room for an event of 'need' bytes: the rest of this chunk up to stream
** position 'stop', or a new chunk. False without memory: nothing is recorded.
*/
bool tg_writer_open (tg_Writer *r, size_t need, uint64_t now, tg_Pos stop);

/* Nothing is recorded from here on; packets are still counted. */
void tg_writer_close (tg_Writer *r);

/* What comes next goes into a chunk of its own. */
void tg_writer_seal (tg_Writer *r);

/* A CONTEXT here, so that a reader may start at this position. */
bool tg_writer_mark (tg_Writer *r, uint64_t now, tg_Pos stop, tg_Pos *mark);

/* Before an event at 'now', which its head may not be able to tell: a TIME, of
   TG_TIME_SIZE bytes, for which there is room. */
void tg_writer_time (tg_Writer *r, uint64_t now);

#define TG_TIME_SIZE 12u

/* A TIME with OVERHEAD, of TG_OVERHEAD_SIZE bytes, for which there is room. */
void tg_writer_overhead (tg_Writer *r, uint64_t overhead, uint64_t until);

#define TG_OVERHEAD_SIZE 20u
#define TG_GAUGE_SIZE 4u

/* The hook is done with the last event: notes when, with a GAUGE, if there is
   room. */
void tg_writer_gauge (tg_Writer *r);

/* Odd, as calls and returns often alternate. */
#define TG_GAUGE_EVERY 61u

/* The slow half of tg_writer_begin. */
uint8_t *tg_writer_slow (tg_Writer *r, size_t need, uint64_t now);

/* Whether nothing stands against an event of at most 'need' bytes. */
TG_INLINE bool tg_writer_ready (const tg_Writer *r, size_t need,
                                uint64_t now) {
  return tg_likely((uintptr_t)r->p + need <= (uintptr_t)r->lim
                   && now - r->last <= TG_SHORT_MAX
                   && r->packets < r->packets_stop && now < r->ticks_stop);
}

/* Whether 'turn' would not be asked: then an event can be written where nothing
   may be allocated and no trace may end. */
TG_INLINE bool tg_writer_has (const tg_Writer *r, size_t need, uint64_t now) {
  return (uintptr_t)r->p + need + TG_TIME_SIZE <= (uintptr_t)r->lim
         && r->packets < r->packets_stop && now < r->ticks_stop;
}

/* The same of an event that is written shorter. */
TG_INLINE bool tg_writer_ready_short (const tg_Writer *r, size_t need,
                                      uint64_t now) {
  return tg_likely((uintptr_t)r->p + need <= (uintptr_t)r->lim
                   && now - r->last <= TG_SHORT_MAX
                   && r->packets < r->packets_stop && now < r->ticks_stop);
}

/*
** Room for one event of at most 'need' bytes that stands for 'packets' packets;
** NULL: it is not recorded. Write it, then tg_writer_end.
*/
TG_INLINE uint8_t *tg_writer_begin (tg_Writer *r, size_t need, uint64_t now) {
  return tg_likely(tg_writer_ready(r, need, now))
         ? r->p : tg_writer_slow(r, need, now);
}

/* The head of an event begun at 'now'. */
TG_INLINE uint8_t *tg_writer_head (tg_Writer *r, uint8_t *p, uint32_t kind,
                                   uint64_t now) {
  uint32_t delta = (uint32_t)(now - r->last);
  r->last = now;
  return tg_put32(p, kind | delta << TG_EV_DELTASHIFT);
}

/* The same of one that is written shorter. What stands behind it stays. */
TG_INLINE uint8_t *tg_writer_short_head (tg_Writer *r, uint8_t *p,
                                         uint32_t first, uint64_t now) {
  uint64_t delta = now - r->last;
  tg_assert(delta <= TG_SHORT_MAX);
  r->last = now;
  *p = (uint8_t)first;
  return tg_put16(p + 1, (uint32_t)delta);
}

/* Commits the event that ends at 'p'. */
TG_INLINE void tg_writer_end (tg_Writer *r, uint8_t *p) {
  tg_assert(p <= r->lim);
  r->p = p;
  tg_block_commit(r->block, p);
}

#endif
