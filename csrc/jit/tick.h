/*
** tick.h - what a thread that runs LuaJIT did at a moment, of which its
** registers and the top of its C stack are known, and the frames of what it ran
** in memory that may be of a little later.
**
** The interpreter keeps the frame that runs and its instruction in registers,
** and which coroutine that is on the C stack, where C entered it; compiled code
** has the trace in the machine's next instruction alone. So all that is told is
** of the moment, and memory is asked whether it still has that:
**
**     in the interpreter     registers say which frame and which instruction:
**                            the function there must own it
**     in compiled code       the trace and its snapshot (inlined.h) say which
**                            instruction, and in which functions that the trace
**                            has inlined; the frame below must own the first of
**                            these instructions
**     in C called by these   the call is on the C stack. The frame is that of
**                            the coroutine's last call of C, and must be the
**                            function, or own the instruction, that the
**                            registers which C preserves have
**
** Where the function there is another one by now, its callers may be the same:
** the instruction says whom these have called (TG_JIT_FIT_CALLED). All else is
** late: nobody knows any more. On x86-64 alone. Plain C.
*/
#ifndef TG_JIT_TICK_H
#define TG_JIT_TICK_H

#include "jit/machine.h"

/* The registers, and bytes of the C stack from 'registers->stack' on. */
typedef struct tg_JitWords {
  const tg_Registers *registers;
  const uint8_t *stack;
  size_t size;
} tg_JitWords;

typedef enum tg_JitDoing {
  TG_JIT_ELSEWHERE,     /* in none of these, as far as can be seen */
  TG_JIT_INTERPRETS,
  TG_JIT_COMPILED,
  TG_JIT_CALLED         /* C, by the interpreter */
} tg_JitDoing;

typedef struct tg_JitTick {
  tg_JitDoing doing;
  tg_SeenState state;   /* the coroutine that ran; not if ELSEWHERE */
  uint64_t entry;       /* where C entered the interpreter, on its stack */
  uint64_t trace;       /* COMPILED: its object, */
  uint64_t offset;      /* and where in its machine code */
  bool calls;           /* it has called C */
} tg_JitTick;

typedef enum tg_JitFit {
  TG_JIT_FIT,           /* frames as they were */
  TG_JIT_FIT_CALLED,    /* its callers, of which the innermost has called the
                           function that owns the instruction 'next'; 0: one in
                           C, whose address is among the words */
  TG_JIT_FIT_LATE
} tg_JitFit;

void tg_jittick_read (tg_JitMachine *m, tg_Sight *s, const tg_Finds *states,
                      const tg_JitWords *words, tg_JitTick *t);

/* The frames of the coroutine that ran. */
tg_JitFit tg_jittick_walk (tg_Sight *s, const tg_JitTick *t,
                           const tg_JitWords *words, tg_SeenFrame *list,
                           uint32_t most, uint32_t *count, uint64_t *next);

#endif
