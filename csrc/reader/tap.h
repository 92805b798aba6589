/*
** tap.h - a reader on a thread of its own, beside the program that it follows.
**
** A tap is a reader with a word about how far it has come, so that the buffer
** of a trace is what its reader has not read yet. With overflow "wait" the
** traced thread waits, inside the hook, until the reader has caught up; a
** reader that makes no progress for 'stall_ns', or has left, ends the wait and
** the trace, which then loses as one with "stop" does. Several traces of one
** session may feed one tap (a client with several traces reads one stream).
**
** Who may call what:
**   the traced thread    tg_tap_new; tg_session_tap, tg_session_stop
**   the reader's thread  tg_tap_next, tg_tap_wait, tg_tap_state, tg_tap_leave,
**                        and 'reader' for what reader.h offers
**   any thread           tg_tap_pin, tg_tap_unpin
** Whatever hands the tap from one thread to another (pthread_create, a mutex)
** orders their work. The library must not be unloaded before the reader's
** thread is out of it.
**
** Life: made and joined to its traces on the traced thread, each of which pins
** it until it ends; pinned for the reader's thread; the last one frees it. The
** state may be closed long before the reader has read the rest.
*/
#ifndef TG_TAP_H
#define TG_TAP_H

#include <stdatomic.h>

#include "reader/reader.h"

#define TG_TAP_STALL UINT64_C(5000000000)   /* ns: what is patience enough */

typedef enum tg_TapState {
  TG_TAP_RUNNING,       /* there is more, or there will be */
  TG_TAP_ENDED,         /* all traces have ended, all is read */
  TG_TAP_BROKEN         /* tg_reader_status says why no more will come */
} tg_TapState;

typedef struct tg_Tap {
  _Atomic uint32_t refs;
  _Atomic uint32_t traces;  /* that still record */
  _Atomic tg_Pos end;       /* where the last of them ended */
  _Atomic tg_Pos read;      /* the reader is done with what is before */
  _Atomic tg_Pos wanted;    /* 'read' that somebody waits for; TG_TAP_NONE */
  _Atomic bool gone;        /* the reader has left */
  uint64_t stall_ns;        /* 0: never wait */
  tg_Stream *stream;        /* pins */
  tg_Reader *reader;        /* owns; the reader's thread's */
  tg_Pos limit;             /* the same: what may be read now */
  tg_Pos upto;              /* the same: where it wants to stop */
} tg_Tap;

#define TG_TAP_NONE UINT64_MAX

/* A tap at 'from', the position of a CONTEXT that is still there. It has one
   pin, the caller's. NULL without memory. */
tg_Tap *tg_tap_new (tg_Stream *stream, tg_Pos from, const tg_Demand *demand,
                    uint64_t stall_ns);
tg_Tap *tg_tap_pin (tg_Tap *t);     /* returns 't' */
void tg_tap_unpin (tg_Tap *t);      /* NULL is fine */

/* ---- the reader's thread ---- */

/* The next packet; false: there is none now, see tg_tap_state. */
bool tg_tap_next (tg_Tap *t, tg_Packet *out);

/* From now on tg_tap_next stops at 'pos', TG_TAP_NONE: nowhere. */
void tg_tap_upto (tg_Tap *t, tg_Pos pos);

/* How far there is nothing to be read, after tg_tap_next was false. */
tg_Pos tg_tap_done (const tg_Tap *t);

/*
** A new sequence, from the CONTEXT at 'from', where the reader has not been
** yet or may go on; times count from 'ticks'. False without memory.
*/
bool tg_tap_begin (tg_Tap *t, tg_Pos from, uint64_t ticks,
                   const tg_Demand *demand);

/* Sleeps for 'ns', less if a trace ends or the traced thread waits. New events
   alone wake nobody: they would have to make a system call. */
void tg_tap_wait (tg_Tap *t, uint64_t ns);

/* After tg_tap_next was false. */
tg_TapState tg_tap_state (const tg_Tap *t);

/* Reads no more: nobody waits for it. */
void tg_tap_leave (tg_Tap *t);

/* ---- the traced thread, from session.c ---- */

/* A trace joins, and leaves at position 'end'. */
void tg_tap_join (tg_Tap *t);
void tg_tap_part (tg_Tap *t, tg_Pos end);

/* From where a buffer counts. */
TG_INLINE tg_Pos tg_tap_pos (const tg_Tap *t) {
  return atomic_load(&((tg_Tap *)(uintptr_t)t)->read);
}

/*
** Whether 'need' bytes at 'pos' go into a buffer of that size, now or, if
** 'wait', after the reader has caught up. An event larger than the buffer has
** its turn when all before it is read.
*/
bool tg_tap_admit (tg_Tap *t, tg_Pos pos, size_t need, uint64_t buffer,
                   bool wait);

#endif
