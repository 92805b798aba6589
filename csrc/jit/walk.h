/*
** walk.h - the frames of a coroutine of LuaJIT, from the innermost on.
**
** Where C has called Lua, or a hook or finalizer runs, the caller's instruction
** is on the C stack: entries into the interpreter, a chain beside that of the
** frames (debug_framepc of lj_debug.c). Into the caller's memory; the walk
** ends: each frame is below the one before. Plain C.
*/
#ifndef TG_JIT_WALK_H
#define TG_JIT_WALK_H

#include "jit/inlined.h"
#include "jit/running.h"

/* Of a coroutine of which nothing runs meanwhile, from the frame that runs. */
tg_WalkEnd tg_jitwalk_still (tg_Sight *s, const tg_SeenState *state,
                             const tg_JitRunning *r, tg_SeenFrame *list,
                             uint32_t most, uint32_t *count);

/* From a frame on, with those that compiled code would leave above the stack,
   or NULL. For whoever reads while the process runs: a caller must own the
   instruction with which it has called, else the walk is torn. */
tg_WalkEnd tg_jitwalk_from (tg_Sight *s, const tg_SeenState *state,
                            const tg_JitRunning *r,
                            const tg_JitInlined *inlined, tg_SeenFrame *list,
                            uint32_t most, uint32_t *count);

#endif
