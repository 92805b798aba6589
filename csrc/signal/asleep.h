/*
** asleep.h - a thread that waits in a system call, as another thread sees it,
** and as a signal handler on that thread does.
**
** A handler may do next to nothing, as it may come in the middle of anything
** (signal-safety(7)). But one that comes while its thread waits, in a call
** which neither allocates memory nor is made by whoever does, interrupts that
** call and nothing else. So another thread asks the kernel first in which call
** the thread waits, and where; the handler finds out whether it has
** interrupted that very place.
*/
#ifndef TG_ASLEEP_H
#define TG_ASLEEP_H

#include <sys/types.h>

#include "base/base.h"

/* A place in a thread's execution: the instruction behind a system call, and
   the stack. Zeros are no place. */
typedef struct tg_Asleep {
  _Atomic uintptr_t instruction, stack;
} tg_Asleep;

/* Looks where a thread of this process waits; any thread may. False, and it is
   no place: it runs, or waits in a call in which a handler may do no more than
   in any other. */
bool tg_asleep_look (tg_Asleep *a, pid_t thread);

/* In a handler of the thread, with what the kernel gave it: whether it has
   interrupted the call at that place. */
bool tg_asleep_there (const tg_Asleep *a, const void *context);

/* The stack of the thread at that moment. */
uintptr_t tg_asleep_stack (const tg_Asleep *a);

#endif
