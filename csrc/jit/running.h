/*
** running.h - which frame of a coroutine of LuaJIT runs, and at which
** instruction.
**
** The interpreter is machine code that keeps both in registers. Memory has them
** while a C function runs, or another coroutine; else they are looked for:
**
**     interpreter        in the registers that it keeps them in
**     called by it       in what it has saved on the C stack, or in registers
**     compiled code      the frame that it was entered with, and no more
**
** What was found is compared with what must be so of a frame. The coroutine's
** own word for it is of its last call of C then, which may be over: where
** nothing better is found, no frame is told. On x86-64 alone. Plain C.
*/
#ifndef TG_JIT_RUNNING_H
#define TG_JIT_RUNNING_H

#include "jit/reading.h"

typedef struct tg_JitRunning {
  uint64_t frame;       /* the slot of the innermost frame; 0: not known */
  uint64_t next;        /* the instruction behind the one that runs; 0: not
                           known */
  bool exact;           /* as the coroutine says, so its top is the frame's */
  bool stale;           /* 'next' may be behind */
  tg_SeenAbove above;
} tg_JitRunning;

/* 'registers': of the thread that runs it; NULL: not known. */
void tg_jitrunning_find (tg_Sight *s, const tg_SeenState *state,
                         const tg_Registers *registers, tg_JitRunning *r);

#endif
