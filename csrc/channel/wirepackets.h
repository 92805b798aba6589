/*
** wirepackets.h - what is read from a follower as bytes of the wire: packets of
** JSON, each by itself or in batches, or blocks (blockstream.h) as bulk
** packets.
**
** On the server's thread alone. Nothing of Lua.
*/
#ifndef TG_WIREPACKETS_H
#define TG_WIREPACKETS_H

#include "channel/blockstream.h"
#include "packet/grips.h"

typedef struct tg_WirePackets {
  tg_BlockStream blocks;        /* of a follower of bytes */
  tg_Scratch scratch;           /* owns, as the following */
  tg_Zstd zstd;                 /* for blocks that are to be packed */
  tg_Buf packed;                /* the same */
  tg_Buf body, out;             /* the packet being written; those that are */
} tg_WirePackets;               /* zeroed memory is fine */

/* What is to be read, all of it borrowed. */
typedef struct tg_WireReading {
  tg_Follower *follower;
  const tg_Selection *selection;  /* the client's own */
  uint64_t until;               /* ticks; of blocks, events after it are not
                                   there */
  const char *from;             /* the actor that sends it */
  int64_t batch;                /* so many packets together; 0: none are */
  size_t bytes;                 /* so many and a bit */
  bool packs;                   /* blocks are packed if that is shorter */
} tg_WireReading;

void tg_wirepackets_free (tg_WirePackets *w);

/* What there is goes into 'w->out', in place of what was there. False, and
   nothing of it may be sent: no memory, or it cannot be read on. */
bool tg_wirepackets_read (tg_WirePackets *w, const tg_WireReading *r);

#endif
