/*
** halt.h - one thread of a process stands still while it is looked at, as short
** as that takes; and what is known of a thread that is not stopped.
**
** A thread that waits in a system call is not stopped: to stop it would end
** some of these calls early (signal(7)), and while it waits it changes nothing.
** That it has waited all the time is asked before and after (tg_halt_rests).
**
**     running ── seize, interrupt ──> stands still ── detach ──> running
**     waiting ──────────────────────> read, and asked again
**     stopped by somebody ──────────> read; it stays stopped
**
** When we die the kernel lets go of it (ptrace(2)), and it runs on. A signal
** that comes meanwhile is passed on. One that does not stop within two seconds
** will do so later: then it must be let go of (late, tg_halt_release). Called
** from one thread of ours, which is then the tracer. Plain C.
*/
#ifndef TG_HALT_H
#define TG_HALT_H

#include "outside/registers.h"

typedef enum tg_HaltKind {
  TG_HALT_NONE,         /* it runs on */
  TG_HALT_STOPPED,      /* by us */
  TG_HALT_WAITS,        /* in a system call */
  TG_HALT_HELD          /* by somebody else */
} tg_HaltKind;

typedef struct tg_Halt {
  int pid, tid;
  tg_HaltKind kind;
  int signal;           /* to be passed on */
  bool late;            /* it was told to stop, and has not done so yet */
  uint64_t since_ns;
  uint64_t took_ns;     /* how long it stood still */
  tg_Registers registers;       /* of one that waits the stack's end and the
                                   next instruction alone */
  char before[256];     /* what it waits in, and how often it has waited */
} tg_Halt;

/* The thread that has an address on its C stack; 0: not known. Threads that run
   tell that only when they are stopped, so each is, shortly. */
int tg_halt_thread (int pid, uint64_t start, uint64_t end);

/* The threads of a process into a list of 'most'; how many. */
uint32_t tg_halt_threads (int pid, int *list, uint32_t most);

/* Before threads are stopped: whoever holds others up should not have to wait
   for a processor itself. Gives what tg_halt_relax takes when they go on. */
int tg_halt_hurry (void);
void tg_halt_relax (int usual);

/* Makes thread 'tid' stand still, or finds that it does; false with errno: it
   runs on, and may be read all the same. */
bool tg_halt_begin (tg_Halt *h, int pid, int tid);

/* The same of a thread that waits: it is stopped, too, which some calls of the
   system answer with EINTR. */
bool tg_halt_stop (tg_Halt *h, int pid, int tid);

/* Whether it still waits where it did; true also for one that stands. */
bool tg_halt_rests (const tg_Halt *h);

/* Lets go of it. */
void tg_halt_end (tg_Halt *h);

/* The same of one that is late: false, if it has not stopped yet. Called now
   and then until it is true. */
bool tg_halt_release (tg_Halt *h);

/* Where a thread waits: its stack's end; 0: it runs. */
uint64_t tg_halt_waits (int pid, int tid);

#endif
