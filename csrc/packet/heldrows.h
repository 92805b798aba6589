/*
** heldrows.h - the log's open calls, and the rows of those that have not
** lasted long enough to be shown.
**
** A log that leaves out short calls cannot know at a call how long it will
** take: so the call's row waits. The calls held back are always the innermost
** ones, so they and their rows are a stack too:
**
**     calls    [ c0 | c1 | c2 || c3 | c4 ]        || = shown
**                                |    |
**     text                     [ row | row ]
**
** A call that yields before it is shown takes its row along, and waits again
** when it is resumed. It may then be long enough before its resumer is: the
** resumer is shown with it.
**
** Plain C, one thread. Memory: the open calls, HELD_MAX of rows.
*/
#ifndef TG_HELDROWS_H
#define TG_HELDROWS_H

#include "base/base.h"
#include "base/buf.h"
#include "reader/reader.h"
#include "reader/suspended.h"

/* An open call. */
typedef struct tg_HeldCall {
  tg_SuspendedCall call; /* its "row" is a tg_FunctionId; its tag the text that
                            it took along, as a pointer, or 0 */
  uint64_t opened_ns;
  uint64_t due_ns;      /* when it will have lasted long enough */
  uint64_t noted;       /* once shown: a number that 'show' has noted */
  size_t start;         /* where its row starts in 'text', until then */
  uint32_t base;        /* place of its coroutine's outermost call */
  uint32_t depth;
  tg_ThreadId thread;
  bool resumed;         /* its row says that it goes on: it was shown before */
} tg_HeldCall;

typedef struct tg_HeldRows {
  uint64_t min_ns;      /* calls are held back as long as that */
  tg_HeldCall *calls;   /* owns */
  uint32_t count, capacity;
  uint32_t shown;       /* of them */
  tg_Buf text;          /* owns; of the others */
  tg_Suspended waiting; /* owns; calls that have yielded */
  size_t kept;          /* bytes of rows that those took along */
  /* A call is to be shown, with its row. */
  void (*show) (void *ud, tg_HeldCall *call, const char *s, size_t size);
  void *ud;             /* borrows */
} tg_HeldRows;

/* 'min_ns' 0: every call is shown as soon as it is entered. */
void tg_heldrows_init (tg_HeldRows *h, uint64_t min_ns,
                       void (*show) (void *ud, tg_HeldCall *call,
                                     const char *s, size_t size),
                       void *ud);
void tg_heldrows_free (tg_HeldRows *h);       /* zeroed memory is fine */

/* A call is entered: its row is to follow. False without memory. */
bool tg_heldrows_enter (tg_HeldRows *h, const tg_Packet *p);

/* Puts the row into 'row' that the call just entered had when it yielded;
   false if it is not known: make another. */
bool tg_heldrows_resume (tg_HeldRows *h, const tg_Packet *p, tg_Buf *row);

/* The row of the call just entered. */
void tg_heldrows_add (tg_HeldRows *h, const tg_Buf *row);

/* The innermost call ends, or yields; it is then '*call'. Whether it was shown,
   and its end is to be shown as well. */
bool tg_heldrows_leave (tg_HeldRows *h, const tg_Packet *p,
                        tg_HeldCall *call);

/* Shows the calls that have lasted long enough by now, and those around
   them. */
void tg_heldrows_release (tg_HeldRows *h, uint64_t now_ns);

/* A suspended coroutine will not come back. */
void tg_heldrows_gone (tg_HeldRows *h, tg_ThreadId thread);

#endif
