/*
** heldlines.h - the log's open calls, and the lines of those that have not
** lasted long enough to be shown.
**
** A log that leaves out short calls cannot know at a call how long it will
** take: so the call's line waits. The calls held back are always the innermost
** ones, so they and their lines are a stack too:
**
**     calls    [ c0 | c1 | c2 || c3 | c4 ]        || = shown
**                                |    |
**     text                     [ line | line ]
**
** A call that yields before it is shown takes its line along, and waits again
** when it is resumed. It may then be long enough before its resumer is: the
** resumer is shown with it.
**
** Plain C, one thread. Memory: the open calls, HELD_MAX of lines.
*/
#ifndef TG_HELDLINES_H
#define TG_HELDLINES_H

#include "base/base.h"
#include "base/buf.h"
#include "reader/reader.h"
#include "reader/suspended.h"

/* An open call. */
typedef struct tg_HeldCall {
  tg_SuspendedCall call; /* its row is a tg_FunctionId; its tag is the line that
                            it took along, as a pointer, or 0 */
  uint64_t opened_ns;
  uint64_t due_ns;      /* when it will have lasted long enough */
  uint64_t line;        /* once shown: a number that 'show' has noted */
  size_t start;         /* where its line starts in 'text', until then */
  uint32_t base;        /* place of its coroutine's outermost call */
  uint32_t depth;
  tg_ThreadId thread;
} tg_HeldCall;

typedef struct tg_HeldLines {
  uint64_t min_ns;      /* calls are held back as long as that */
  tg_HeldCall *calls;   /* owns */
  uint32_t count, capacity;
  uint32_t shown;       /* of them */
  tg_Buf text;          /* owns; of the others */
  tg_Suspended waiting; /* owns; calls that have yielded */
  size_t kept;          /* bytes of lines that those took along */
  /* A call is to be shown, with its line. */
  void (*show) (void *ud, tg_HeldCall *call, const char *s, size_t size);
  void *ud;             /* borrows */
} tg_HeldLines;

/* 'min_ns' 0: every call is shown as soon as it is entered. */
void tg_heldlines_init (tg_HeldLines *h, uint64_t min_ns,
                        void (*show) (void *ud, tg_HeldCall *call,
                                      const char *s, size_t size),
                        void *ud);
void tg_heldlines_free (tg_HeldLines *h);     /* zeroed memory is fine */

/* A call is entered: its line is to follow. False without memory. */
bool tg_heldlines_enter (tg_HeldLines *h, const tg_Packet *p);

/* Puts the line into 'line' that the call just entered had when it yielded;
   false if it is not known: make another. */
bool tg_heldlines_resume (tg_HeldLines *h, const tg_Packet *p, tg_Buf *line);

/* The line of the call just entered. */
void tg_heldlines_add (tg_HeldLines *h, const tg_Buf *line);

/* The innermost call ends, or yields; it is then '*call'. Whether it was shown,
   and its end is to be shown as well. */
bool tg_heldlines_leave (tg_HeldLines *h, const tg_Packet *p,
                         tg_HeldCall *call);

/* Shows the calls that have lasted long enough by now, and those around
   them. */
void tg_heldlines_release (tg_HeldLines *h, uint64_t now_ns);

/* A suspended coroutine will not come back. */
void tg_heldlines_gone (tg_HeldLines *h, tg_ThreadId thread);

#endif
