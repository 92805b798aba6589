/*
** picture.h - a heap snapshot of this process, written by a child.
**
** The child is a copy of the process, made by clone: it has the memory as it
** was at that moment, and reads nothing else. So the program stands still for
** the clone alone, and nothing runs in it, nothing is collected, no object is
** made before. The child runs none of the program's code: no handler of fork,
** of exit, of signals; it has no file of the program's open, and it allocates
** apart (base/apart.h). Its end makes no signal, and nobody's wait finds it.
**
**     look for the layout ─ clone ─┬─ read what is said, and the snapshot
**                                  └─ child: capture, write, say
**
** On whatever thread: the state's own, or another. Then the state may be in the
** middle of an allocation, which the sum of its objects tells ('strict').
*/
#ifndef TG_PICTURE_H
#define TG_PICTURE_H

#include <sys/types.h>

#include "binding/lx.h"
#include "heap/births.h"
#include "heap/capture.h"
#include "peek/ourselves.h"
#include "peek/tracedheap.h"

typedef struct tg_PictureOrder {
  const tg_Ourselves *ours;     /* borrows */
  const char *path;     /* NULL: into the pipe, behind what is said */
  const tg_Births *births;      /* borrows; ids by birth, of just this moment;
                                   NULL: by address */
  tg_HeapTracer tracer; /* tells who made the objects, if there is a trace */
  bool strict;          /* EAGAIN unless the sum is what the state says */
} tg_PictureOrder;

/* What the child says, in one write: at its end, or before a snapshot that goes
   into the pipe. */
typedef struct tg_PictureSaid {
  tg_CaptureSums sums;
  uint64_t made;        /* objects of which is known who made them */
  int error;            /* errno of what failed; 0: nothing */
} tg_PictureSaid;

typedef struct tg_Picture {
  pid_t child;          /* 0: none any more */
  int pipe;             /* owns; -1 */
  pid_t owner;          /* who began it: not a child that was forked since */
  double stopped_ms;
} tg_Picture;

/* False with errno. Makes nothing in the state. */
bool tg_picture_begin (tg_Picture *p, tg_PictureOrder *o);

/* Whether this process began it. Another one, forked since, only closes its end
   of the pipe, whatever is called. */
bool tg_picture_is_ours (const tg_Picture *p);

/* What the child of a file has said; false: it has ended without. It is then
   over. */
bool tg_picture_hear (tg_Picture *p, tg_PictureSaid *said);

/* Waits for a child whose pipe has ended; whether it has done what it was
   to. */
bool tg_picture_await (tg_Picture *p);

/* Ends the child, if there is one. Once or often. */
void tg_picture_drop (tg_Picture *p);

/* Pushes the result as a table: objects, bytes, state_bytes, garbage,
   distant, made, stopped_ms. */
void tg_picture_push (lua_State *L, const tg_PictureSaid *said,
                      double stopped_ms);                     /* [-0, +1, m] */

#endif
