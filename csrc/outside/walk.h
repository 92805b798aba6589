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

/* At most 'most' frames into 'list'; '*count' is how many. */
tg_WalkEnd tg_walk (tg_Sight *s, const tg_SeenState *state, tg_SeenFrame *list,
                    uint32_t most, uint32_t *count);

/* The same of what runs meanwhile and is asked a thousand times a second:
   frames that do not hold together are there as well, as torn, with what they
   say themselves: the next instruction, and whether they are of C. */
tg_WalkEnd tg_walk_running_on (tg_Sight *s, const tg_SeenState *state,
                               tg_SeenFrame *list, uint32_t most,
                               uint32_t *count);

/* The same, with the leaf's instruction from the registers of the thread that
   runs it; NULL: they are not known, or it does not run. */
tg_WalkEnd tg_walk_running (tg_Sight *s, const tg_SeenState *state,
                            const tg_Registers *registers, tg_SeenFrame *list,
                            uint32_t most, uint32_t *count,
                            tg_SeenAbove *above);

/* Bytes of a slot. */
uint32_t tg_walk_slot (const tg_Sight *s);

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
