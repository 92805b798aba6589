/*
** spy.h - samples of another process, which knows nothing of it: what all of
** its Lua states run, some hundred times a second, into a stream.
**
** Two clocks. By processor time the kernel's events tick in its threads
** (ticks.h), and each tick is a look at the state that the thread runs: a
** thread that does not run is not looked at. Where there are no such events, or
** the clock is asked for, all states are looked at by the clock, and each
** sample is split by what the kernel counts for the state's thread: time that
** it ran, that it waited, and that others had the processor. Without events and
** by processor time the parts in which it did not run are left out.
**
** A look that is torn is taken again, so often; then it is given up, counted by
** its reason, and its time goes to the next one. So is one that came too late
** to know what ran at its tick (leaf.h). New threads, states and
** coroutines are looked for at intervals.
**
** Plain C, one thread, which calls tg_spy_run in turns with other work.
*/
#ifndef TG_SPY_H
#define TG_SPY_H

#include "outside/halt.h"
#include "spy/mend.h"
#include "spy/writing.h"
#include "stream/misses.h"

typedef struct tg_SpyPlan {
  uint32_t hz;
  bool wall;            /* of the clock's seconds */
  bool stop;            /* the thread stands still while it is looked at */
  bool native;          /* C frames between Lua frames */
} tg_SpyPlan;

/* Reasons for which a sample is given up: those of a look, and one more. Then,
   what is counted beside them: threads that were not looked at, ticks that the
   kernel had no room for, states beyond those that are looked at, and samples
   whose C frames are not known, which have Lua frames alone. */
enum {
  TG_SPY_LATE = TG_NREASONS, TG_SPY_UNSEEN, TG_SPY_LOST, TG_SPY_OMITTED,
  TG_SPY_UNWOUND, TG_SPY_REASONS
};

typedef enum tg_SpyEnd {
  TG_SPY_RUNS,
  TG_SPY_ENDED,         /* the process has */
  TG_SPY_CHANGED,       /* it runs another program by now */
  TG_SPY_FULL           /* no room for samples */
} tg_SpyEnd;

/* A time that has passed, in parts. */
typedef struct tg_SpyPassed {
  uint64_t ran, waited, delayed;        /* ns */
} tg_SpyPassed;

/* What is known of a state's thread, on which it is looked at by the clock. */
typedef struct tg_SpyClocked {
  int tid;              /* 0: not known */
  uint64_t used_ns, delayed_ns; /* what the kernel has counted by the last look:
                                   it ran, and could have */
  uint64_t ahead_ns;    /* of the clock, by which that is */
  tg_SpyPassed untold;  /* since the last sample */
  bool begun;           /* these are of that thread; of the process, if that is
                           not known */
} tg_SpyClocked;

/* A thread in which Lua was seen, by the kernel's events. */
typedef struct tg_SpyTicked {
  int tid;
  uint64_t carried_ns;
  uint32_t carried;     /* ticks */
} tg_SpyTicked;

typedef struct tg_Spy {
  tg_Target target;     /* owns, as the next six */
  tg_SpyTicks ticks;
  tg_SpyWriting writing;
  tg_SpyStack stack;
  tg_SpyLeaves leaves;
  tg_SpySites sites;
  tg_CStack cstack;     /* owns, as the next one; of a plan with C frames */
  tg_SpyMix mix;
  tg_SpyTick halted;    /* of a thread that stood still, as of a tick, */
  uint8_t halted_stack[TG_SPY_CSTACK];  /* and its stack */
  tg_SpyPlan plan;
  bool by_events;
  bool opened, begun;
  tg_SpyEnd end;
  tg_Misses misses;
  tg_SpyClocked clocked[TG_FOUND_STATES];       /* by state */
  tg_SpyTicked ticked[TG_SPY_THREADS];
  uint32_t nticked;
  uint64_t last_ns;     /* the last look by the clock, */
  uint64_t next_ns;     /* and the next one */
  uint64_t tidied_ns;   /* when new threads were looked for */
  uint64_t search_ns;   /* when states are looked for next */
  uint64_t stopped_ns;  /* all stops together */
  tg_Halt late[TG_SPY_THREADS]; /* that have not stopped in time, and will */
  uint32_t nlate;
  uint32_t random;
  int usual;            /* our priority */
} tg_Spy;

/* Opens the process; a refusal leaves its words. Whatever is answered,
   tg_spy_close. */
tg_Refusal tg_spy_open (tg_Spy *y, int pid, const tg_SpyPlan *plan,
                        tg_Buf *words);

/* From now on samples go into 'stream', which has no events yet. False without
   memory. */
bool tg_spy_begin (tg_Spy *y, tg_Stream *stream);

/* Takes samples for so long, or until the process ends. */
tg_SpyEnd tg_spy_run (tg_Spy *y, uint64_t ns);

/* Lets go of threads that were to stop for us and have done so too late.
   tg_spy_run does; who goes on without it asks now and then. */
void tg_spy_release (tg_Spy *y);

void tg_spy_close (tg_Spy *y);

#endif
