/*
** live.h - who keeps memory: blocks that are alive, by who has made them, at
** the end and at the moment at which the heap was at its highest.
**
** An owner is a number of the caller's: a row, or a node of a tree. The stream
** tells which origin is which owner, and what goes of it (stream/holdings.h):
**
**     ALLOCATIONS ──> origin 7: this owner, 3 blocks, 120 bytes
**        later   ──> origin 7: 1 block, 40 bytes less
**
** What was made before the trace began is nobody's here: when it goes, nothing
** changes. Of an origin no more goes than it has, whatever the bytes say, so no
** sum is ever below 0. Where the stream does not know any more, or events are
** missing, all is forgotten, and counted from there on ('partial').
**
** The highest moment may come with each event. What all owners had then need
** not be copied: each notes it by itself, before it changes for the first time
** after that moment.
**
** Used by profiles and formats, on the thread that reads. Memory: owners, and
** origins with something alive, no more than blocks were at a time.
*/
#ifndef TG_LIVE_H
#define TG_LIVE_H

#include "base/intmap.h"
#include "reader/framer.h"
#include "stream/holdings.h"

#define TG_LIVE_NOBODY UINT32_MAX

typedef struct tg_LiveSum {
  tg_Holding now;
  tg_Holding peak;        /* at the highest moment */
  uint64_t noted;         /* of which moment 'peak' is */
} tg_LiveSum;

typedef struct tg_LiveOrigin {
  uint32_t owner;
  tg_Holding has;
} tg_LiveOrigin;

typedef struct tg_Live {
  bool told;              /* the stream tells of it */
  bool partial;           /* but not from the beginning */
  uint64_t every;         /* blocks are samples, about one in so many bytes; 0:
                             all are there */
  tg_LiveSum *owners;     /* owns */
  uint32_t nowners;
  /* private */
  tg_IntMap places;       /* owns; by origin */
  tg_LiveOrigin *origins; /* owns; at those places */
  uint32_t count, capacity;
  uint32_t *unused;       /* owns; places that are free */
  uint32_t nunused, cunused;
  uint64_t heap, highest; /* bytes: before this event, and the most so far */
  uint64_t moment;        /* how often it was at its highest */
} tg_Live;

void tg_live_free (tg_Live *l);               /* zeroed memory is fine */

/* Takes a packet of allocations, by 'owner'; of those that the selection leaves
   out by nobody. False without memory. */
bool tg_live_add (tg_Live *l, const tg_Packet *packet, uint32_t owner);

/* Whose an origin is; TG_LIVE_NOBODY: that is not known. */
uint32_t tg_live_owner (const tg_Live *l, tg_OriginId origin);

/* What an owner has so far. */
tg_LiveSum tg_live_of (const tg_Live *l, uint32_t owner);

TG_INLINE void tg_holding_add (tg_Holding *to, tg_Holding h) {
  to->blocks += h.blocks;
  to->bytes += h.bytes;
}

#endif
