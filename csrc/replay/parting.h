/*
** parting.h - two recordings of a program read side by side, up to the first
** packet in which they differ: what was called and from where, with what, how a
** call ended and what it gave.
**
** Times are no difference. Nor are the numbers of coroutines, which are taken
** in the order in which they appear. Frames that only samples show are passed
** over.
**
** Plain C, one thread: that of both replays.
*/
#ifndef TG_PARTING_H
#define TG_PARTING_H

#include "base/base.h"
#include "base/intmap.h"
#include "replay/alike.h"
#include "replay/replay.h"

typedef enum tg_Difference {
  TG_DIFFER_NOT,        /* both have ended: the same all along */
  TG_DIFFER_GOING,      /* the same so far: another turn */
  TG_DIFFER_END,        /* one of them has ended */
  TG_DIFFER_KIND,       /* a call, and the end of one; or it ends otherwise */
  TG_DIFFER_THREAD,     /* another coroutine */
  TG_DIFFER_FUNCTION,
  TG_DIFFER_PLACE,      /* of the call */
  TG_DIFFER_VALUES,     /* arguments, results, what was thrown or yielded */
  TG_DIFFER_FAILED      /* no memory, or not readable: a replay's status */
} tg_Difference;

typedef struct tg_Parting {
  tg_Replay *a, *b;     /* borrows */
  tg_Alike alike;       /* owns */
  tg_IntMap threads[2]; /* own; in the order of appearance, of a and of b */
  uint32_t appeared[2];
} tg_Parting;

/* Both begin where they are. */
void tg_parting_begin (tg_Parting *p, tg_Replay *a, tg_Replay *b);
void tg_parting_free (tg_Parting *p);

/* Reads on, 'budget' packets of each at most. Where they differ both replays
   stay before that packet: it is 'coming' in each. */
tg_Difference tg_parting_turn (tg_Parting *p, uint64_t budget);

#endif
