/*
** clientstream.h - what one client is to get of a traced state: the frames of
** its traces as bytes of the wire, and notices, each where it belongs among
** them.
**
** The client's traces are *members*; their union is read from one follower.
** Frames and notices come by different ways (channel.h), and the order between
** them is this: a notice has a place in the stream, and is due when all before
** that place has been read.
**
** On the server's thread alone. Nothing of Lua: what cannot be had for want of
** memory leaves the stream 'broken', and its client is sent away.
*/
#ifndef TG_CLIENTSTREAM_H
#define TG_CLIENTSTREAM_H

#include "channel/channel.h"
#include "channel/wirepackets.h"

struct tg_ClientTrace;

typedef struct tg_ClientStream {
  tg_Channel *channel;        /* borrows */
  struct tg_ClientTrace *members;  /* owns */
  tg_Selection selection;     /* owns: of those that run */
  tg_Follower *follower;      /* pins; NULL: nothing to be read */
  tg_Notice *next;            /* owns: the next notice, not due yet */
  tg_Pos mark;                /* or TG_FOLLOWER_NONE */
  uint64_t until;             /* ticks at which it was set; UINT64_MAX */
  uint64_t session;           /* ATTACHes so far */
  bool attached;
  bool broken;                /* it cannot be read on */
  tg_WirePackets wire;        /* owns */
} tg_ClientStream;

void tg_clientstream_init (tg_ClientStream *c, tg_Channel *channel);
void tg_clientstream_free (tg_ClientStream *c);

/* A client comes, or has gone; whatever was there before ends. False without
   memory, and nothing has changed. */
bool tg_clientstream_attach (tg_ClientStream *c, bool yes);

/* How a trace is to come. */
typedef struct tg_ClientStart {
  const char *name;
  bool bytes;                 /* as bytes (blockstream.h), and alone */
  bool makers;                /* channel.h */
} tg_ClientStart;

/* Asks for a trace of these options (copied): a member from now on. False
   without memory, and nothing has changed. */
bool tg_clientstream_start (tg_ClientStream *c, uint64_t id,
                            const tg_Options *o, const tg_ClientStart *how);

/* What a member still sends does not count from here on. None of that id is
   fine. */
void tg_clientstream_part (tg_ClientStream *c, uint64_t id);

/* The options of a member, NULL if there is none of that id. */
const tg_Options *tg_clientstream_options (const tg_ClientStream *c,
                                           uint64_t id);

/* What a member has lost so far of what no packet tells, by tg_Lack; false:
   there is none of that id, or it has not begun. */
bool tg_clientstream_lost (const tg_ClientStream *c, uint64_t id,
                           uint64_t lost[TG_NLACKS]);

/* Reading is to stop at what is recorded now; false: there is nothing before
   it. The client's time is over: now, or when its trace, which comes as bytes,
   was 'duration_ns' old (0: now). */
bool tg_clientstream_mark (tg_ClientStream *c, uint64_t duration_ns);

/*
** The next packets, or blocks, framed, of the actor 'from': 'bytes' and a bit,
** 'batch' of them together (0: each by itself). Blocks are packed, if that is
** what the client 'packs', and makes them shorter. Stays until the next call;
** NULL: there is nothing to read before the mark or the next notice.
*/
const tg_Buf *tg_clientstream_read (tg_ClientStream *c, const char *from,
                                    int64_t batch, size_t bytes, bool packs);

/* The next notice if it is due, else NULL; and that it has been told: what it
   says is so from then on. */
const tg_Notice *tg_clientstream_notice (tg_ClientStream *c);
void tg_clientstream_told (tg_ClientStream *c);

#endif
