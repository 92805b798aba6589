/*
** memory.h - the memory of a process, wherever that is: it runs, it stands
** still, or it is a core file. For whoever looks into it from outside.
**
** Everything else in this room reads through here, so nothing else knows where
** bytes come from. Two ways: blocks, which are read at once and not kept, for
** searching; and words, which come from pages that are kept. Pages make two
** things possible: hundreds of words cost one call of the system, and all pages
** that were looked at once can be read anew in a few calls (tg_memory_refresh),
** while the process stands still or between two samples.
**
**     finder ─ blocks ──────────────────┐
**     walker, values ─ words ─> pages ──┴─> ranges ─> process, core
**
** What cannot be read is zeros, and counted: whoever reads compares what it got
** with what is possible, and asks once at the end. No bytes from here are to be
** trusted. Bounded: so many pages are kept. Further ones share a few places,
** and are read again when another one has been there.
**
** Plain C, one thread at a time. The target is never written to.
*/
#ifndef TG_MEMORY_H
#define TG_MEMORY_H

#include "base/base.h"
#include "base/intmap.h"
#include "outside/maps.h"

#define TG_PAGE 4096u
#define TG_MEMORY_PAGES 16384u  /* kept at most: 64 MiB */
#define TG_MEMORY_RECENT 64u    /* a power of two */

/* Bytes to be read from one place. */
typedef struct tg_Range {
  uint64_t at;
  uint8_t *to;
  size_t size;
} tg_Range;

typedef struct tg_Memory tg_Memory;

/* Reads ranges from the first on; how many were read whole before one was
   not. */
typedef uint32_t tg_MemoryRead (tg_Memory *m, const tg_Range *list,
                                uint32_t n);

struct tg_Memory {
  tg_MemoryRead *read;
  int pid;              /* of a process that lives; 0: a core */
  int task;             /* the thread by which it is read (process.h) */
  struct tg_Core *core; /* borrows; NULL: a process that lives */
  tg_Maps maps;         /* owns */
  tg_IntMap places;     /* owns; by address of a page */
  struct tg_Page *pages;  /* owns */
  uint32_t count, capacity;
  uint32_t recent[TG_MEMORY_RECENT];    /* places of pages that were asked for
                           last, each by its address: hints */
  struct tg_Passing *passing;   /* owns; NULL: all pages are kept so far */
  uint64_t age;         /* counts the times that pages were read anew */
  uint32_t moment;      /* counts the calls of tg_memory_renew */
  uint32_t *fresh;      /* owns; pages that are read at each of these */
  uint32_t nfresh, fresh_capacity;
  struct tg_Hasty *ahead;       /* owns; words that are read before these; NULL:
                                   none so far */
  uint32_t nahead;
  uint64_t work;        /* reads of words and the like, whether kept or not */
  uint64_t faults;      /* of these, reads of what is not there */
};

void tg_memory_init (tg_Memory *m, tg_MemoryRead *read);
void tg_memory_free (tg_Memory *m);

/* A block at once, past the pages; false if not all of it is there. */
bool tg_memory_block (tg_Memory *m, uint64_t at, void *to, size_t size);

/* From the pages; false: zeros, and a fault. */
bool tg_memory_get (tg_Memory *m, uint64_t at, void *to, size_t size);

/* The same of one number. */
uint64_t tg_memory_word (tg_Memory *m, uint64_t at);
uint32_t tg_memory_half (tg_Memory *m, uint64_t at);
uint8_t tg_memory_byte (tg_Memory *m, uint64_t at);

/* Reads all pages that are kept anew. */
void tg_memory_refresh (tg_Memory *m);

/* Keeps no page any more. */
void tg_memory_forget (tg_Memory *m);

/*
** For samples: pages whose contents change all the time are read anew at each
** moment, all of them in one call, and once more in the same call; those whose
** contents are as good as fixed, functions and their code, are not.
**   tg_memory_fresh: whether what is there was read at the last moment; if not,
** it will be from the next one on, until nobody has asked for a while.
**   tg_memory_ahead: a few bytes of such a page are read by themselves from the
** next moment on, before all pages. While a page is copied the process waits
** for lines of it, and does so where it writes to them: words that change often
** would be seen most at what they are for a moment. To be asked for again and
** again; what there is no room for is as the page has it.
**   tg_memory_settled: whether it was the same both times. Of one page.
**   tg_memory_again: what it was the second time; 0: nobody knows.
*/
void tg_memory_renew (tg_Memory *m);
bool tg_memory_fresh (tg_Memory *m, uint64_t at, size_t size);
void tg_memory_ahead (tg_Memory *m, uint64_t at, size_t size);
bool tg_memory_settled (tg_Memory *m, uint64_t at, size_t size);
uint64_t tg_memory_again (tg_Memory *m, uint64_t at);

#endif
