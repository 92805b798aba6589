/*
** waypoints.h - states along a recording, from which reading can begin: an
** index by numbers of packets.
**
**     packets  0 ........ 32768 ........ 65541 ........ 98312 ....
**     states   ^          ^              ^              ^
**
** A state is a reader that has given so many packets and no more, without the
** bytes that it read (tg_reader_copy), and the stacks as they were there. To
** come to a packet is to copy the state before it, and to read on from there:
** at most as many packets as lie between two.
**
** Memory is bounded: when all states together would be more, every second one
** is dropped, and from then on they are twice as far apart. They are farther
** apart as well where stacks are deep, so that copying them takes a small part
** of the time that reading does.
**
** Plain C, one thread: the replay's, which owns them.
*/
#ifndef TG_WAYPOINTS_H
#define TG_WAYPOINTS_H

#include "base/base.h"
#include "reader/reader.h"
#include "replay/callstacks.h"

typedef struct tg_Waypoint {
  uint64_t number;      /* packets that were given before it */
  tg_Reader *reader;    /* owns */
  tg_CallStacks stacks; /* owns */
  size_t bytes;         /* about */
} tg_Waypoint;

typedef struct tg_Waypoints {
  tg_Waypoint *list;    /* owns; in order, the first is at packet 0 */
  uint32_t count, capacity;
  uint64_t every;       /* packets between two, at least */
  uint64_t due;         /* there is to be one from this packet on */
  size_t bytes, most;   /* of all; what they may take */
} tg_Waypoints;

/* 'every' and 'most' are what is usual if they are 0. */
void tg_waypoints_init (tg_Waypoints *w, uint64_t every, size_t most);
void tg_waypoints_free (tg_Waypoints *w);

/* Whether there should be one where reading has come to. */
TG_INLINE bool tg_waypoints_are_due (const tg_Waypoints *w, uint64_t number) {
  return number >= w->due;
}

/* Adds one: 'reader' is between two events, and 'stacks' are as they are there.
   Both are copied. False without memory, and there is none then. */
bool tg_waypoints_add (tg_Waypoints *w, uint64_t number,
                       const tg_Reader *reader, const tg_CallStacks *stacks);

/* The last one at a number that is not above 'number'. */
const tg_Waypoint *tg_waypoints_before (const tg_Waypoints *w, uint64_t number);

#endif
