/*
** walk.h - the frames of a coroutine, from the innermost on, one walk for all
** releases from 5.1 to 5.5.
**
** Into the caller's memory, and nothing is allocated: it may be called a
** thousand times a second. What runs meanwhile may tear what is read. So a
** frame counts only if its function owns the instruction in it: a leaf that
** does not is left out and counted, since calls and returns change the frame
** before the function or after it. The walk ends: each frame's slot is below
** the one before.
*/
#ifndef TG_WALK_H
#define TG_WALK_H

#include "outside/proto.h"
#include "outside/registers.h"
#include "outside/state.h"

typedef struct tg_SeenFrame {
  uint64_t frame;       /* its CallInfo */
  uint64_t slot;        /* its function's slot */
  tg_SeenValue function;
  uint64_t code;        /* its prototype, or the C function */
  uint64_t source;      /* of the prototype: a string object, */
  uint32_t line;        /* and its first line */
  uint64_t base, limit; /* slots of its variables; the end of them */
  int32_t pc;           /* the instruction that runs; -1: not known */
  uint32_t extra;       /* extra arguments, from 'extras' on */
  uint64_t extras;
  bool is_c;
  bool tail;            /* by a tail call */
  bool finalizer;       /* it calls a finalizer */
  bool hooked;          /* its hook runs */
  bool stale;           /* the leaf: 'pc' may be behind */
} tg_SeenFrame;

typedef enum tg_WalkEnd {
  TG_WALK_WHOLE,        /* to the host's frame */
  TG_WALK_CUT,          /* there are more */
  TG_WALK_TORN          /* the rest is not to be believed */
} tg_WalkEnd;

/* At most 'most' frames into 'list'; '*count' is how many. */
tg_WalkEnd tg_walk (tg_Sight *s, const tg_SeenState *state, tg_SeenFrame *list,
                    uint32_t most, uint32_t *count);

/* Whether that release's interpreter keeps the leaf's instruction in a
   register. */
TG_INLINE bool tg_walk_is_stale (const tg_Sight *s) {
  return s->release / 100 != 502 && s->release / 100 != 503;
}

/* Where the interpreter keeps the leaf's instruction in a register and not in
   memory: finds it there, or on the C stack below the protected call. */
void tg_walk_refine (tg_Sight *s, const tg_SeenState *state,
                     tg_SeenFrame *leaf, const tg_Registers *registers);

#endif
