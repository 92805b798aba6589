/*
** allocmeter.h - counts what a Lua state asks its allocator for.
**
** A meter stands before the state's own allocator and passes every call on with
** the arguments as they are, the kind of a new object in 'osize' included
** (lua_Alloc, section 4.6 of the manual). What that one returns is returned. A
** request that was refused counts nothing: Lua collects garbage and asks again.
**
**     Lua ─> tg_allocmeter_call ─> the allocator that was there before
**                  │
**                  └─> counts; and, once since it was last asked, *alarm = 0
**
** It runs wherever Lua allocates and frees, in the middle of a collection too:
** so it looks at no Lua state, calls nothing else and cannot fail.
**
** Owned by the session that has installed it (session/allocations.h), on the
** thread that runs the state. If the program has put an allocator of its own
** before it meanwhile, nobody can take it out: it stays, counts nothing, and
** frees itself when the state's last block is freed, behind which nobody calls.
*/
#ifndef TG_ALLOCMETER_H
#define TG_ALLOCMETER_H

#include "base/base.h"

/* As lua_Alloc. */
typedef void *tg_Allocator (void *ud, void *block, size_t osize, size_t nsize);

typedef struct tg_AllocCounts {
  uint64_t allocations;   /* blocks that were made, or made larger */
  uint64_t allocated;     /* bytes that took, of larger ones what was added */
  uint64_t freed;         /* bytes that were given back */
} tg_AllocCounts;

typedef struct tg_AllocMeter {
  tg_Allocator *allocator;  /* what was there before... */
  void *ud;                 /* ...and what it is called with */
  const void *home;         /* lies in the block that the state frees last */
  bool counts;              /* else it only passes on */
  bool own;                 /* what is asked for now is the tracer's */
  tg_AllocCounts total;     /* since it was made: of the program... */
  tg_AllocCounts aside;     /* ...and of the tracer */
  uint64_t heap;            /* bytes that the state has now, all in all; modulo
                               2^64 as long as it is not 'based' */
  uint64_t peak;            /* the most since it was last asked... */
  uint64_t told_heap;       /* ...as 'heap' and 'total' were then */
  tg_AllocCounts told;
  bool based;               /* it is known what there was at first */
  bool due;                 /* something has changed since it was last asked: */
  uint64_t *alarm;          /* this was set to 0 then; borrows */
} tg_AllocMeter;

/* One that counts; NULL without memory. */
tg_AllocMeter *tg_allocmeter_new (tg_Allocator *allocator, void *ud,
                                  const void *home, uint64_t *alarm);

/* The allocator that a state gets; 'ud' is the meter. */
tg_Allocator tg_allocmeter_call;

/* The state has so many bytes now: what was counted so far is relative. */
void tg_allocmeter_base (tg_AllocMeter *m, uint64_t heap);

/* What was counted has been told of. */
TG_INLINE void tg_allocmeter_asked (tg_AllocMeter *m) {
  m->due = false;
  m->told = m->total;
  m->peak = m->told_heap = m->heap;
}

/* It is in no state any more. */
void tg_allocmeter_free (tg_AllocMeter *m);

/* It cannot be taken out. It is nobody's from here on. */
void tg_allocmeter_leave (tg_AllocMeter *m);

#endif
