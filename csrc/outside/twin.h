/*
** twin.h - a copy of a process that stands still for as long as it is looked
** at, while the process itself goes on: made by a fork that one of its threads
** is made to call (inject.h).
**
** The copy runs nothing, not one instruction: it stands from its birth on, and
** is killed. Its end sends no signal, and no wait of the program's finds it
** (__WCLONE of wait(2)). Then a thread of the process is stopped once more, and
** made to take what is left of it out of the table of processes.
**
**     stop ── fork ── go on ········· stop ── wait4 ── go on
**                └── copy is read ── killed ──┘
**
** From the first to the last no signal ends us: the process would be left with
** a thread that stands elsewhere. Plain C, one thread.
*/
#ifndef TG_TWIN_H
#define TG_TWIN_H

#include <signal.h>

#include "outside/inject.h"

typedef struct tg_Twin {
  int pid;              /* whose */
  int child;            /* it; 0: there is none */
  uint64_t place;       /* for calls */
  sigset_t usual;       /* our own signals */
} tg_Twin;

/* Before threads are stopped: whether it can be, else words why not. Signals
   are held back from here to tg_twin_end. */
bool tg_twin_begin (tg_Twin *t, tg_Memory *m, tg_Buf *words);

/* By a thread that stands still; false with errno: EAGAIN, not at this
   moment. */
bool tg_twin_make (tg_Twin *t, tg_Halt *h);

/* False: what is left of the copy, 'child', stays in the table of processes
   until the process ends. */
bool tg_twin_end (tg_Twin *t, uint64_t *stopped_ns);

/* Of a list, one that stands still by us and can be used; of those that wait
   one is stopped if there is none. NULL: there is none. */
tg_Halt *tg_twin_thread (tg_Halt *list, uint32_t count);

#endif
