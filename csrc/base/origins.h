/*
** origins.h - where the blocks come from that a Lua state has now.
**
** The program between two events of the hook is one *origin*, if it makes a
** block that is still there when the second of them is written; more than one,
** where the lines are known that make them: each line's blocks have their own
** (tg_OriginPart). A table has for
** each block its origin; what is freed is told as a change of one:
**
**     made ──> table: address, origin ──┐
**                                       ├──> holding of the origin that is now
**     freed ─> table: whose it was ─────┴──> changes of others
**     told ──> bytes of the stream (stream/holdings.h); numbers are free again
**
** Numbers are used again as soon as nothing is left of an origin: so there are
** no more of them than blocks, for us and for readers, however long a trace is.
** Which function, and which path of calls, an origin is, the stream's reader
** knows: the event stands where it ran.
**
** A block that becomes larger is one that goes and one that is made: it belongs
** to who made it larger. One that becomes smaller stays whose it was.
**
** The heap is at its highest between two events somewhere; what was held just
** then is known as well: the holding 'high', and how many changes were before.
** It rises with each block while it grows: so nothing is copied then, and each
** part notes what it had before it changes for the first time after a rise.
**
** 'every': about one block in so many bytes is noted, and stands for all that
** are like it. A block of n bytes is noted with the probability p = 1 - exp(-n
** / every), as if points were thrown onto the bytes that are allocated, and
** stands for 1 / p blocks: sums are right on average (as Go's heap profiles,
** runtime.MemProfileRate). 1 / p is rounded up or down by chance, for the same
** reason.
**
** Used by a meter (allocmeter.h), in the place of Lua's allocator. Memory that
** is refused makes it forget all, and 'forgotten' says so from there on; but a
** block that the table has no room for is only nobody's. Plain C, one thread.
*/
#ifndef TG_ORIGINS_H
#define TG_ORIGINS_H

#include "base/base.h"
#include "base/addresstable.h"

typedef uint32_t tg_OriginId;   /* from 1 on; 0: none */

/* What an origin has, or had. */
typedef struct tg_Holding {
  uint64_t blocks, bytes;
} tg_Holding;

/* What an origin has no more. */
typedef struct tg_OriginChange {
  tg_OriginId origin;
  bool last;              /* nothing is left of it */
  tg_Holding less;
} tg_OriginChange;

#define TG_ORIGINPARTS_MOST 64u

/* An origin that is made now: of a place that the caller knows, by its number;
   0: of no place, or of one for which there was no part left. */
typedef struct tg_OriginPart {
  tg_OriginId origin;     /* 0: it has made nothing */
  uint32_t place;
  tg_Holding now, high;   /* of it: now, and when the heap was at its highest,
                             after tg_origins_settle */
  uint64_t rise;          /* private; of which rise 'high' is */
} tg_OriginPart;

typedef struct tg_Origins {
  bool on;                /* else nothing is noted */
  bool forgotten;         /* what was noted is not known any more */
  uint64_t every;         /* bytes; 0: all blocks are noted */
  tg_OriginPart parts[TG_ORIGINPARTS_MOST];     /* of what runs now */
  uint32_t nparts;
  tg_OriginChange *changes;     /* owns; of others... */
  uint32_t nchanges, cchanges;
  uint32_t first;         /* ...from here on: those before have been told */
  uint32_t nhigh;         /* up to here they were before the heap was at its
                             highest; >= first */
  uint64_t rises;         /* how often it was higher than before */
  /* private */
  tg_AddressTable table;    /* owns */
  uint32_t *entries;      /* owns; by origin: its blocks in the table; of a
                             number that is free the next one */
  uint32_t norigins, centries;
  tg_OriginId unused;     /* the first number that is free */
  double until;           /* bytes to the next block that is noted */
  uint64_t seed;
} tg_Origins;

/* Notes blocks from here on; zeroed memory is fine. */
void tg_origins_begin (tg_Origins *o, uint64_t every);
void tg_origins_end (tg_Origins *o);
void tg_origins_sample (tg_Origins *o, uint64_t every);

/* How many blocks one stands for that is made now; 0: it is none of those that
   are sampled. */
uint32_t tg_origins_weigh (tg_Origins *o, size_t size);

/* It was made there, and stands for so many. */
void tg_origins_made (tg_Origins *o, const void *block, size_t size,
                      uint32_t stands_for, uint32_t place);

/* A block went, or became smaller by so much and is at 'now'. How many blocks
   it stands for; 0: it was not noted. */
uint32_t tg_origins_freed (tg_Origins *o, const void *block, size_t size);
uint32_t tg_origins_shrunk (tg_Origins *o, const void *block, const void *now,
                            size_t by);

/* The heap is as high as it was not before, since it was told. */
TG_INLINE void tg_origins_rise (tg_Origins *o) {
  o->rises++;
  o->nhigh = o->nchanges;
}

/* Parts are to be told: 'high' is up to date. */
void tg_origins_settle (tg_Origins *o);

/* Whether it is one of those that are made now, of which nothing has been
   told. */
TG_INLINE bool tg_origins_is_now (const tg_Origins *o, tg_OriginId id) {
  for (uint32_t i = 0; i < o->nparts; i++) {
    if (o->parts[i].origin == id)
      return true;
  }
  return false;
}

/* How many changes are to be told. */
TG_INLINE uint32_t tg_origins_due (const tg_Origins *o) {
  return o->nchanges - o->first;
}

/* The parts and the first 'n' of the changes have been told: what runs now is
   another origin. */
void tg_origins_told (tg_Origins *o, uint32_t n);

#endif
