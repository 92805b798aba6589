/*
** stackwalk.h - the frames that run now, for a sample: those of the running
** coroutine, each with the line that it is at, below them those of the
** coroutine that resumed it, and so on down to the main one. Our own are not
** among them.
**
**     (0, 1) (main chunk, 12) (run, 40)   (0, 3) (worker, 7) (read, 0)
**     the main coroutine                  coroutine 3
**
** Outermost first: what two samples have in common is at the beginning, and
** need not be written twice.
*/
#ifndef TG_STACKWALK_H
#define TG_STACKWALK_H

#include "state/session.h"

/* A frame; or, with function 0, the coroutine whose frames follow, with its
   number in place of the line. */
typedef struct tg_WalkedFrame {
  const void *ci;               /* identity; not in the stream */
  uint32_t function;            /* id and TG_SAMPLE_TRACED */
  uint32_t line;
} tg_WalkedFrame;

typedef struct tg_StackWalk {
  tg_WalkedFrame *list;         /* owns */
  uint32_t n, capacity;
} tg_StackWalk;

/*
** Looks at what runs, from 'L' on, whose innermost 'skip' frames are left out.
** False: without memory, or where the session has coroutines and shadow stacks
** that are not what runs any more; what was found is of no use then. Where
** calls are traced the chain of coroutines is the session's, and frames that
** the stream has CALLs of are marked so; where they are not, running.h knows
** the chain.
*/
bool tg_stackwalk_chain (tg_StackWalk *w, tg_Session *s, lua_State *L,
                         int skip);
bool tg_stackwalk_running (tg_StackWalk *w, tg_Session *s, lua_State *L,
                           int skip);

/* Of a deeper stack the innermost ones are seen: to walk 200,000 frames takes
   as long as the time between two samples. */
#define TG_STACKWALK_FRAMES 1024

/* What an entry has for a function of which that is known (TG_FR_*). */
TG_INLINE uint32_t tg_stackwalk_entry (uint32_t what) {
  return ((what & TG_FR_OWN) ? 0 : what & TG_FR_ID) | (what & TG_FR_C);
}

/* The entries of one coroutine, from number 'first' on, were added from the
   innermost frame out: the outermost is first now, and our own are not among
   them. 'main': it is the main coroutine. */
void tg_stackwalk_turn (tg_StackWalk *w, uint32_t first, bool main);

/* Where calls are traced, and the list was read by other means: frames that
   the stream has CALLs of are marked. The innermost may be between its events,
   which is marked if its calls are 'traced'. False: what runs is not what the
   session has otherwise either, and the list is of no use. Allocates nothing.
   */
bool tg_stackwalk_mark (tg_StackWalk *w, const tg_Session *s, bool traced);

/*
** The frames of one coroutine, which runs or does not, but for the innermost
** 'skip': 'w' has them, outermost first, and nothing else. '*standing' are
** those of the shadow stack that are there still, with ours on top of them;
** 'newer': others have come in their place, or inside of them. False without
** memory.
*/
typedef struct tg_Standing {
  uint32_t frames;
  bool newer;
} tg_Standing;

bool tg_stackwalk_compare (tg_StackWalk *w, tg_Coroutine *t, int skip,
                           tg_Standing *standing);

/* As tg_stackwalk_mark, in a window (window.h), for lack of events: where the
   innermost coroutine's shadow stack has frames that are gone, '*standing' are
   the others, and those are marked. */
bool tg_stackwalk_match (tg_StackWalk *w, const tg_Session *s,
                         uint32_t *standing);

/* Room for so many entries. False without memory. */
bool tg_stackwalk_reserve (tg_StackWalk *w, uint32_t n);

/* How many of the outermost are the same in both. */
uint32_t tg_stackwalk_shared (const tg_StackWalk *w, const tg_StackWalk *other);

/* Makes it what 'from' is. False without memory. */
bool tg_stackwalk_copy (tg_StackWalk *w, const tg_StackWalk *from);

void tg_stackwalk_free (tg_StackWalk *w);     /* zeroed memory is fine */

#endif
