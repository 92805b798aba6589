/*
** follower.h - a reader on a thread of its own, beside the program that it
** follows.
**
** A follower of bytes has no reader: it gives the stream as it stands, a
** stretch at a time, to somebody who has a reader of his own. A loose one never
** keeps the program from going on: what it has not come to in time is dropped.
**
** A follower is a reader with a word about how far it has come, so that the
** buffer of a trace is what its reader has not read yet. With overflow "wait"
** the traced thread waits, inside the hook, until the reader has caught up; a
** reader that makes no progress for 'stall_ns', or has left, ends the wait and
** the trace, which then loses as one with "stop" does. Several traces of one
** session may feed one follower (a client with several traces reads one
** stream).
**
** Who may call what:
**   the traced thread    tg_follower_new; tg_tracing_tap, tg_tracing_stop
**   the reader's thread  tg_follower_next, tg_follower_wait, tg_follower_state,
**   tg_follower_leave,
**                        and 'reader' for what reader.h offers
**   any thread           tg_follower_pin, tg_follower_unpin
** Whatever hands the follower from one thread to another (pthread_create, a
** mutex) orders their work. The library must not be unloaded before the
** reader's thread is out of it.
**
** Life: made and joined to its traces on the traced thread, each of which pins
** it until it ends; pinned for the reader's thread; the last one frees it. The
** state may be closed long before the reader has read the rest.
*/
#ifndef TG_FOLLOWER_H
#define TG_FOLLOWER_H

#include <stdatomic.h>

#include "reader/reader.h"

#define TG_FOLLOWER_STALL UINT64_C(5000000000) /* ns: what is patience enough */

typedef enum tg_FollowerState {
  TG_FOLLOWER_RUNNING,  /* there is more, or there will be */
  TG_FOLLOWER_ENDED,    /* all traces have ended, all is read */
  TG_FOLLOWER_BROKEN    /* tg_reader_status says why no more will come */
} tg_FollowerState;

typedef struct tg_Follower {
  _Atomic uint32_t refs;
  _Atomic uint32_t traces;  /* that still record */
  _Atomic tg_Pos end;       /* where the last of them ended */
  _Atomic uint64_t end_ticks;   /* ...and when */
  _Atomic tg_Pos read;      /* the reader is done with what is before */
  _Atomic tg_Pos wanted;  /* 'read' that somebody waits for; TG_FOLLOWER_NONE */
  _Atomic bool gone;        /* the reader has left */
  uint64_t stall_ns;        /* 0: never wait */
  bool loose;               /* of bytes: never waited for */
  uint64_t waited;          /* ticks; the traced thread's */
  tg_Stream *stream;        /* pins */
  tg_Reader *reader;        /* owns; the reader's thread's; NULL: */
  tg_Cursor cursor;         /* of one of bytes; the same */
  uint64_t missed;          /* the same: packets, not told yet */
  tg_Pos limit;             /* the same: what may be read now */
  tg_Pos upto;              /* the same: where it wants to stop */
} tg_Follower;

#define TG_FOLLOWER_NONE UINT64_MAX

/* A follower at 'from', the position of a CONTEXT that is still there. It has
   one pin, the caller's. NULL without memory. */
tg_Follower *tg_follower_new (tg_Stream *stream, tg_Pos from,
                              const tg_Selection *selection, uint64_t stall_ns);
tg_Follower *tg_follower_pin (tg_Follower *t); /* returns 't' */
void tg_follower_unpin (tg_Follower *t); /* NULL is fine */

/* One of bytes, which has no selection. */
tg_Follower *tg_follower_new_bytes (tg_Stream *stream, tg_Pos from,
                                    bool loose, uint64_t stall_ns);

/* ---- the reader's thread ---- */

/* Bytes of one chunk, whole events. */
typedef struct tg_Stretch {
  tg_Slice bytes;
  bool begins;              /* a chunk, or the whole: */
  size_t room;              /* ...of so many bytes of data */
  uint64_t packets;         /* of the stream before it */
  uint64_t missed;          /* packets that were dropped before it */
} tg_Stretch;

/* The next bytes of a follower of bytes; they stay until the next call. False:
   there are none now. */
bool tg_follower_stretch (tg_Follower *t, tg_Stretch *out);

/* Where it stands, and how far there are events. */
tg_Pos tg_follower_place (const tg_Follower *t);
tg_Pos tg_follower_committed (const tg_Follower *t);

/* The next packet; false: there is none now, see tg_follower_state. */
bool tg_follower_next (tg_Follower *t, tg_Packet *out);

/* From now on tg_follower_next stops at 'pos', TG_FOLLOWER_NONE: nowhere. */
void tg_follower_upto (tg_Follower *t, tg_Pos pos);

/* How far there is nothing to be read, after tg_follower_next was false. */
tg_Pos tg_follower_done (const tg_Follower *t);

/* When its traces have ended; the largest number while one records. */
uint64_t tg_follower_ended_at (const tg_Follower *t);

/*
** A new sequence, from the CONTEXT at 'from', where the reader has not been
** yet or may go on; times count from 'ticks'. False without memory.
*/
bool tg_follower_begin (tg_Follower *t, tg_Pos from, uint64_t ticks,
                        const tg_Selection *selection);

/* Sleeps for 'ns', less if a trace ends or the traced thread waits. New events
   alone wake nobody: they would have to make a system call. */
void tg_follower_wait (tg_Follower *t, uint64_t ns);

/* After tg_follower_next was false. */
tg_FollowerState tg_follower_state (const tg_Follower *t);

/* Reads no more: nobody waits for it. */
void tg_follower_leave (tg_Follower *t);

/* ---- the traced thread, from tracing.c ---- */

TG_INLINE bool tg_follower_is_bytes (const tg_Follower *t) {
  return t->reader == NULL;
}

/* Constant, unlike the rest of the cursor. */
TG_INLINE bool tg_follower_is_loose (const tg_Follower *t) {
  return t->loose;
}

/* A trace joins, and leaves at position 'end', at the time 'ticks'. */
void tg_follower_join (tg_Follower *t);
void tg_follower_part (tg_Follower *t, tg_Pos end, uint64_t ticks);

/* From where a buffer counts. */
TG_INLINE tg_Pos tg_follower_pos (const tg_Follower *t) {
  return atomic_load(&((tg_Follower *)(uintptr_t)t)->read);
}

/*
** Whether 'need' bytes at 'pos' go into a buffer of that size, now or, if
** waiting is allowed until some time ('until', in ticks; 0: not at all), after
** the reader has caught up. An event larger than the buffer has its turn when
** all before it is read. The wait is added to 'waited'.
*/
bool tg_follower_admit (tg_Follower *t, tg_Pos pos, size_t need,
                        uint64_t buffer, uint64_t until);

#endif
