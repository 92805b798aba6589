/*
** blockstream.h - a trace's part of a stream as bytes for a client: what a
** recording of it would have, as it comes.
**
** The bytes are entries as a recording has them (entries.h), one after the
** other; FUNCTION entries are the same, and come before any event that names
** them. The others are these, numbers as the machine has them:
**
**   BEGIN    u32 order, u32 pid, u64 wall, u64 origin, f64 ns_per_tick (as in
**            a recording's header), u64 ticks, u64 packets: where the trace
**            begins; u32 each, the costs (costs.h)
**   CHUNK    u64 size, u64 packets, u64 lost: what follows goes into a new
**            chunk of so many bytes; of packets before it, 'lost' are missing
**            since the chunk before
**   EVENTS   whole events of that chunk (event.h)
**   NOW      u64 ticks: all events up to that time were given, which is when
**            the trace ended if it has
**   LACKS    u64 each, what the trace has lost so far and no event tells
**            (lacks.h), each time that it has changed
**   PROCESS  u64 nanoseconds of a clock, u64 nanoseconds of processor time that
**            the process has used by then, u64 threads that it has, u64 each,
**            the figures of its ticks (ticking.h): now and then while the trace
**            runs
**   PACKED   u32 bytes, then entries of so many bytes, packed (zstd.h): for
**            clients that ask for it, when the way to them is slow
**
** docs/protocol.md has it for those who write a client.
*/
#ifndef TG_BLOCKSTREAM_H
#define TG_BLOCKSTREAM_H

#include "base/buf.h"
#include "reader/follower.h"
#include "text/zstd.h"

#define TG_BLOCKSTREAM_TYPE "tracegrip.blocks"

typedef enum tg_BlockEntry {
  TG_BLOCKENTRY_BEGIN = 256,
  TG_BLOCKENTRY_CHUNK,
  TG_BLOCKENTRY_EVENTS,
  TG_BLOCKENTRY_NOW,
  TG_BLOCKENTRY_PROCESS,
  TG_BLOCKENTRY_LACKS,
  TG_BLOCKENTRY_PACKED
} tg_BlockEntry;

/*
** What a client has of the stream:
**
**             events are    all has been    its end is moved
**             given (read)  given (read)    (tg_blockstream_owe)
**   nothing   part          -               -
**   part      part          all             part
**   all       part          -               part
*/
typedef enum tg_BlocksGiven {
  TG_BLOCKS_NOTHING,
  TG_BLOCKS_PART,             /* no NOW after its last events */
  TG_BLOCKS_ALL
} tg_BlocksGiven;

/* How far a client has got. */
typedef struct tg_BlockStream {
  uint64_t ticks, packets;    /* where the trace began... */
  tg_LacksFrom from;          /* ...and from where its losses count */
  tg_FunctionId functions;    /* how many it knows */
  tg_BlocksGiven given;
  uint64_t process_ns;        /* when PROCESS was given last */
  uint64_t lacks;             /* the sum of what LACKS said last */
} tg_BlockStream;

/* A new client, whose trace began there. */
void tg_blockstream_begin (tg_BlockStream *b, uint64_t ticks, uint64_t packets,
                           const tg_LacksFrom *from);

/* The client, if it has anything, is to have another NOW. */
void tg_blockstream_owe (tg_BlockStream *b);

/* Appends new bytes of the follower, which is one of bytes: 'bytes' and a chunk
   at most; nothing, if there are none. Events after 'until', in ticks, are left
   out for this client. */
void tg_blockstream_read (tg_BlockStream *b, tg_Follower *follower,
                          size_t bytes, uint64_t until, tg_Buf *out);

/* The same bytes as one entry PACKED in 'out'; false: they are not worth it, or
   cannot be packed, and 'out' is as it was. */
bool tg_blockstream_pack (tg_Zstd *z, const tg_Buf *bytes, tg_Buf *out);

/* What the data of an entry PACKED stand for, owned by the caller: 'bytes' of
   it. NULL with errno: EBADMSG, ENOMEM. */
uint8_t *tg_blockstream_unpack (tg_Zstd *z, const uint8_t *data, size_t size,
                                size_t *bytes);

#endif
