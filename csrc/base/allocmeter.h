/*
** allocmeter.h - counts what a Lua state asks its allocator for.
**
** A meter stands before the state's own allocator and passes every call on with
** the arguments as they are, the kind of a new object in 'osize' included
** (lua_Alloc, section 4.6 of the manual), and returns what the allocator
** returns. A refused request counts nothing: Lua collects garbage and asks
** again.
**
**     Lua ─> tg_allocmeter_call ─> the allocator that was there before
**                  │
**                  └─> counts; and, once since it was last asked, *alarm = 0
**
** It notes with each block where it is from, too (origins.h): with memory of
** its own, while it counts.
**
** A meter runs wherever Lua allocates and frees, in the middle of a collection
** too: so it looks at no Lua state, calls nothing of one and cannot fail.
**
** Used by the session that has installed the meter (session/allocations.h), on
** the thread that runs the state. A meter is never freed. Code that asks the
** state for its allocator (lua_getallocf) may keep the answer: Lua 5.5 keeps it
** in strings made in a buffer, and frees these by it when they are collected
** (resizebox and luaL_pushresult in lauxlib.c); an allocator of the program's
** that was put before ours keeps it too. Nobody tells when the last copy is
** gone. So a session keeps its meter for its next trace, and a state that has
** had a meter leaves some hundred bytes behind.
*/
#ifndef TG_ALLOCMETER_H
#define TG_ALLOCMETER_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/origins.h"

/* As lua_Alloc. */
typedef void *tg_Allocator (void *ud, void *block, size_t osize, size_t nsize);

typedef struct tg_AllocCounts {
  uint64_t allocations;   /* blocks that were made, or made larger */
  uint64_t allocated;     /* their bytes; of a grown one only what was added */
  uint64_t freed;         /* bytes that were given back */
} tg_AllocCounts;

/* A block that was made, or made larger. */
typedef struct tg_AllocMade {
  const void *block;        /* where it was before, or NULL: compared only */
  uint64_t count, bytes;    /* what it stands for; 0: it is none of those that
                               are sampled, but a table */
  const uint32_t *table;    /* of the instruction that has made the latest table
                               what stood in its place on the stack: compare it
                               before it is followed (direct/newtable.h)... */
  uint32_t since;           /* ...and how many blocks ago that was; 0: this is
                               the table */
} tg_AllocMade;

/* Who asks which blocks are made, and says at which place, by a number that is
   the asker's own, 0 for none; all run as the allocator does. */
typedef struct tg_AllocAsker {
  void *ud;
  uint32_t (*made) (void *ud, const tg_AllocMade *made);
  size_t size;              /* blocks of that size... */
  void (*gone) (void *ud, const void *block);     /* ...that go */
} tg_AllocAsker;

typedef struct tg_AllocMeter {
  tg_Allocator *allocator;  /* what was there before... */
  void *ud;                 /* ...and what it is called with */
  bool counts;              /* else calls are only passed on */
  _Atomic bool busy;        /* what is here is being changed: of no use to who
                               has a copy of this moment */
  bool own;                 /* what is asked for now is the tracer's */
  bool based;               /* the bytes of the beginning are known: 'heap' is
                               not relative, and the alarm is set */
  bool due;                 /* counts have changed since they were last asked */
  tg_AllocCounts total;     /* of the program; only grows */
  tg_AllocCounts aside;     /* of the tracer */
  uint64_t heap;            /* bytes that the state has now, all in all */
  uint64_t peak;            /* the most since the meter was last asked... */
  uint64_t told_heap;       /* ...and 'heap' and 'total' as they were then */
  tg_AllocCounts told;
  tg_Origins origins;       /* owns, while it counts */
  uint64_t *alarm;          /* borrows */
  const uint8_t *watched;   /* borrows; three bytes, compared at each block; or
                               NULL */
  uint32_t seen;            /* the three bytes as they were last */
  void (*changed) (void *ud);   /* called when the bytes are not 'seen'... */
  void *watcher;            /* ...with this */
  tg_AllocAsker asker;      /* 'made' NULL: nobody asks */
  tg_AllocMade latest;      /* 'table' and 'since' are of all blocks */
  void (*probe) (void *ud, void *const *frame);   /* sees the stack at each new
                               table, with 'watcher'; or NULL */
  struct tg_AllocMeter *next;   /* all meters: so a leak checker finds them */
} tg_AllocMeter;

/* A meter before this allocator, which counts from tg_allocmeter_begin on; NULL
   without memory. */
tg_AllocMeter *tg_allocmeter_new (tg_Allocator *allocator, void *ud);

/* The allocator that a state gets; 'ud' is the meter. */
tg_Allocator tg_allocmeter_call;

/* The meter counts from here on: all, or about one block in 'every' bytes, for
   all that are like it (origins.h). The heap and its peak are counted in any
   case. Once it is based, it sets '*alarm' to 0 when its counts have changed
   and should be asked for. */
void tg_allocmeter_begin (tg_AllocMeter *m, uint64_t *alarm, uint64_t every);

/* Where on the stack, in words from the meter's frame on, the interpreter has
   the instruction that makes a table: for all meters of the process. Without
   it 'table' is NULL. */
void tg_allocmeter_tables (int at);

/* The meter counts no more. */
void tg_allocmeter_end (tg_AllocMeter *m);

/* 'changed' is called with 'ud' whenever a block was made or freed and these
   three bytes are not what they were before. It runs as the allocator does. */
void tg_allocmeter_watch (tg_AllocMeter *m, const uint8_t *three,
                          void (*changed) (void *ud), void *ud);

/* Compares the three bytes now. */
TG_INLINE void tg_allocmeter_look (tg_AllocMeter *m) {
  const uint8_t *b = m->watched;
  if (b == NULL)
    return;
  uint32_t now = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16;
  if (tg_unlikely(now != m->seen)) {
    m->seen = now;
    m->changed(m->watcher);
  }
}

/* The state has so many bytes now: what was counted so far is relative. */
void tg_allocmeter_base (tg_AllocMeter *m, uint64_t heap);

/* What was counted has been told of. */
TG_INLINE void tg_allocmeter_asked (tg_AllocMeter *m) {
  m->due = false;
  m->told = m->total;
  m->peak = m->told_heap = m->heap;
}

#endif
