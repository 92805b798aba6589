/*
** packetevents.h - one packet after the other becomes events of a stream.
**
** Packets know less than events: they do not say that a coroutine is resumed,
** left or dead. That shows when a packet of another one comes; so shadow stacks
** (reader/stacks.h) are kept as a reader keeps them, and frames that are
** entered again are held back until it is known that these are all.
**
** The caller makes the stream and reads it; here it is only written to.
*/
#ifndef TG_PACKETEVENTS_H
#define TG_PACKETEVENTS_H

#include "base/buf.h"
#include "binding/lx.h"
#include "reader/stacks.h"
#include "stream/writer.h"

/* Where things are on Lua's stack while a packet is taken. */
enum {
  TG_PACKETEVENTS_PACKET = 2, /* the packet, a table */
  TG_PACKETEVENTS_IDS         /* the table of replayfunctions.h */
};

typedef struct tg_PacketEvents {
  tg_Writer writer;         /* first member: found by its address. Owns its
                               stream */
  tg_Stacks stacks;         /* owns */
  tg_Stack *running;        /* borrows; innermost of the chain, never NULL */
  uint64_t now;             /* ns, of the packet that came last */
  tg_Buf values;            /* owns; of a packet */
  tg_Buf types;             /* owns; for tg_replayvalues_list */
  tg_Buf resumed;           /* owns; ids of frames entered again, held back
                               until it is known that these are all */
  tg_ThreadId resuming;     /* whose they are */
  uint64_t resumed_ns;
  uint32_t yielded;         /* exits yet to come that a YIELD has told */
  bool over;                /* the program has ended */
  bool failed;              /* memory was refused */
} tg_PacketEvents;

/* A stream whose ticks are nanoseconds of the other side's time. False without
   memory; to be freed all the same. */
bool tg_packetevents_open (tg_PacketEvents *r);
void tg_packetevents_free (tg_PacketEvents *r);   /* zeroed memory is fine */

/* Takes a packet; what is no frame's, or makes no sense, adds nothing. Raises
   what Lua raises. */
void tg_packetevents_take (lua_State *L, tg_PacketEvents *r);  /* [-0, +0, m] */

/* There are no more packets: what was held back becomes events. */
void tg_packetevents_end (tg_PacketEvents *r);

#endif
