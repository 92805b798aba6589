/*
** inject.h - one call of the system, made by a thread of another process that
** stands still by us (halt.h), which goes on afterwards as if it had made none.
**
** Registers and signal mask are ours for the call and the thread's own again
** before it is let go. No signal is delivered meanwhile: all are blocked, so
** they stay pending. No instruction of the program runs, and nothing is written
** to its memory: the call is made at an instruction `syscall` that is there
** already. At the end the thread stands where it stood, in the same kind of
** stop, so a call that it was in begins anew as after any stop.
**
**     stopped ── registers, mask ── entered ── left ── stopped ── its own again
**
** What is not certain is refused: other processors than x86-64, a filter of
** calls, a stop that is a signal's, a sequence that may not be interrupted
** (rseq(2)). Whoever calls must not be killed in between. Plain C.
*/
#ifndef TG_INJECT_H
#define TG_INJECT_H

#include "base/buf.h"
#include "outside/halt.h"
#include "outside/memory.h"

typedef struct tg_Injected {
  int64_t result;       /* of the call; negative: an errno */
  int child;            /* that it made: it stands still, traced by us, and has
                           run nothing; 0: none */
} tg_Injected;

/* False, with words why not, if no thread of that process may be used. */
bool tg_inject_allowed (int pid, tg_Buf *words);

/* The address of an instruction `syscall`; 0: none was found. */
uint64_t tg_inject_place (tg_Memory *m);

/* False: it was not made, for now; the thread is as before. */
bool tg_inject_call (tg_Halt *h, uint64_t place, long number,
                     const uint64_t arguments[4], tg_Injected *done);

#endif
