/*
** ticks.h - ticks of the processor time that the threads of another process
** use: who has run, for how long, and with which registers.
**
** By performance events of the kernel (perf_event_open, the software task
** clock), one for each thread; for processes of one's own no privilege is
** needed where perf_event_paranoid is 2 or less. They count there and wake us
** here: the process is not signalled and not stopped. An event ticks in user
** mode alone, and counts all of the thread's time, so a tick stands for what
** the thread has used since the tick before. Ticks are not evenly spaced:
** what a program does in a rhythm of its own would always be met at the same
** place.
**
** The kernel tells there as well which processes these threads start, however
** short they are.
**
** Plain C, one thread.
*/
#ifndef TG_SPY_TICKS_H
#define TG_SPY_TICKS_H

#include "outside/registers.h"

#define TG_SPY_THREADS 64u      /* of a process that are looked at */
#define TG_SPY_FORKED 256u      /* processes that it has started, and nobody has
                                   asked for yet */

/* What a thread has in its registers and on the top of its C stack when a tick
   comes. */
#define TG_SPY_STACK 1024u
#define TG_SPY_CSTACK 8192u     /* where C frames are wanted, too */

typedef struct tg_SpyTick {
  int tid;
  uint64_t used_ns;     /* processor time since the tick before */
  tg_Registers registers;
  const uint8_t *stack; /* borrows, until the next call; from 'registers.stack'
                           on; NULL: not known */
  size_t stack_size;
} tg_SpyTick;

typedef struct tg_SpyThread {
  int tid;
  int fd;               /* owns */
  void *ring;           /* owns; mapped */
  uint64_t used_ns;     /* that its event has counted */
  uint64_t until;       /* where this turn's records end in the ring */
  bool seen;            /* at the last look for new threads */
  bool over;            /* it has ended: nothing to wait for */
} tg_SpyThread;

typedef struct tg_SpyTicks {
  int pid;
  uint64_t period_ns;
  uint32_t stack;       /* bytes of C stacks that come with ticks */
  uint32_t random;      /* of the next period */
  tg_SpyThread threads[TG_SPY_THREADS];
  uint32_t count;
  uint32_t unseen;      /* that have no event, at most at one time: there are
                           too many, or the kernel allows no more */
  uint64_t lost;        /* ticks for which there was no room */
  int forked[TG_SPY_FORKED];    /* their numbers */
  uint32_t nforked;
  uint32_t next;        /* whose ticks come next, */
  bool ticked;          /* and whether it had any */
  uint8_t last[TG_SPY_CSTACK + 1024];   /* the record that was read last */
} tg_SpyTicks;

/* Of all threads that the process has, with so much of their C stacks; false:
   the kernel does not allow that. Whatever is answered, tg_spyticks_close. */
bool tg_spyticks_open (tg_SpyTicks *t, int pid, uint32_t hz, uint32_t stack);
void tg_spyticks_close (tg_SpyTicks *t);

/* Threads that have begun since then are looked at too, and those that have
   ended no more, which makes room for others. */
void tg_spyticks_rescan (tg_SpyTicks *t);

/* Waits for ticks, so long at most, unless some are left. False: there is
   nothing to be read. */
bool tg_spyticks_wait (tg_SpyTicks *t, uint64_t ns);

/* The next tick of a thread; false: no thread has another one. */
bool tg_spyticks_next (tg_SpyTicks *t, tg_SpyTick *tick);

#endif
