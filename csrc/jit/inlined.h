/*
** inlined.h - the frames that compiled code would leave behind: those of
** functions that the compiler has put into a trace have none on the stack.
**
** A trace has snapshots: for each place where it may be left, the instruction
** with which the interpreter would go on, and what the stack would have by
** then, relative to the frame that the trace was entered with. Machine code is
** in the order of snapshots, so the last one before an address is that of the
** code there:
**
**     machine code    ──┬───────┬──────────┬──────────
**     snapshots         0       1          2
**     goes on in        f:3     f:5 > g:1  f:6
**
** So what is told of compiled code is where the interpreter would be if the
** code were left: certain, and not quite what runs. Snapshots are taken behind
** what has an effect (a store, a call) and at comparisons, so what comes first
** in an inlined function, up to there, is shown as the end of what ran before
** it; a function without any of these is shown as its caller. The loop around,
** what was not inlined, and all callers are as they are. (The next snapshot in
** place of the last one was tried: it errs as much the other way.)
**
** Before March 2021 snapshots did not say where their code is: inlined frames
** are not known then. Plain C.
*/
#ifndef TG_JIT_INLINED_H
#define TG_JIT_INLINED_H

#include "jit/reading.h"

#define TG_JIT_INLINED 256u     /* slots: their numbers have 8 bits */

typedef struct tg_JitInlinedSlot {
  uint64_t word;        /* 0: known to the compiled code alone */
  uint32_t slot;        /* from the frame's function on, which is 0 */
} tg_JitInlinedSlot;

typedef struct tg_JitInlined {
  uint64_t base;        /* of the frame that the trace was entered with */
  uint32_t innermost;   /* slots from there to the innermost frame's */
  uint64_t next;        /* its next instruction */
  tg_JitInlinedSlot list[TG_JIT_INLINED];
  uint32_t count;
} tg_JitInlined;

/* What code at an offset of a trace would leave, but for where: 'base'. False:
   that is not known. */
bool tg_jitinlined_read (tg_Sight *s, uint64_t trace, uint64_t offset,
                         tg_JitInlined *x);

/* The slot of the innermost frame. */
TG_INLINE uint64_t tg_jitinlined_frame (const tg_JitInlined *x) {
  return x->base + (uint64_t)x->innermost * TG_JIT_SLOT - TG_JIT_SLOT;
}

/* What would be in a slot of the stack; false: what is there in memory. */
bool tg_jitinlined_word (const tg_JitInlined *x, uint64_t at, uint64_t *word);

/* Whether a frame is one that is not on the stack. */
TG_INLINE bool tg_jitinlined_has (const tg_JitInlined *x, uint64_t frame) {
  return frame >= x->base;
}

#endif
