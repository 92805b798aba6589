/*
** still.h - the frames of a coroutine of LuaJIT while nothing runs: its thread
** stands still, waits, or has left a core. What a dialect has to say of them
** (outside/dialect.h, outside/walk.h).
**
** Of compiled code the state says which trace that is and which frame it was
** entered with. Where in the trace is in the thread's registers: the machine's
** next instruction, or on the C stack what a function in C will return to. With
** that the frames of functions that the trace has inlined are told, by its
** snapshots (inlined.h), and marked: as late as is said there, thus as they
** were a moment ago. Without registers, or where anything does not fit, frames
** begin with the one that the trace was entered with. Plain C.
*/
#ifndef TG_JIT_STILL_H
#define TG_JIT_STILL_H

#include "jit/reading.h"

tg_WalkEnd tg_jitstill_walk (tg_Sight *s, const tg_SeenState *state,
                             const tg_Registers *registers, tg_SeenFrame *list,
                             uint32_t most, uint32_t *count,
                             tg_SeenAbove *above);

#endif
