/*
** walk.h - from packets to events.
**
** A walk keeps the events that are *live*: open, or waiting since their
** coroutine yielded. A call that yields and is resumed is one event with one
** more hit; which one a resumed frame goes on with, suspended.h says. At every
** moment the innermost open event of all coroutines has the time to itself, as
** in reports.
**
** What tracing has taken is in no time (reader/trueclock.h); what of it was
** taken from the innermost event is that one's overhead.
**
** An event that is over is told to 'over', innermost first. A walk may also
** begin in the middle, where another one has been: then those that were live
** there are *known*, to be put in by tg_scopewalk_known, and nothing is told of
** them.
**
** Plain C, one thread. Memory: what is live.
*/
#ifndef TG_WALK_H
#define TG_WALK_H

#include "reader/suspended.h"
#include "scope/kinds.h"

/* A live event. */
typedef struct tg_ScopeLive {
  tg_ScopeEvent event;
  tg_ThreadId thread;
  uint32_t label;
  uint32_t parent;      /* live too; TG_INTMAP_NONE: none */
  uint32_t place;       /* where the owner keeps what comes of it;
                           TG_INTMAP_NONE: nowhere yet */
  uint32_t next_free;
  bool known;
} tg_ScopeLive;

/* A coroutine. */
typedef struct tg_Timeline {
  tg_ThreadId thread;
  uint32_t first, latest;     /* the owner's: segments that have events of it */
  uint64_t events;
} tg_Timeline;

typedef struct tg_Timelines {
  tg_Timeline *list;    /* owns; the main coroutine's first */
  uint32_t count, capacity;
  tg_IntMap by_thread;  /* owns */
  tg_ThreadId thread;   /* asked for last... */
  uint32_t latest;      /* ...and its number */
} tg_Timelines;

typedef struct tg_ScopeWalk tg_ScopeWalk;

struct tg_ScopeWalk {
  tg_Status status;     /* sticky: memory was refused */
  uint64_t next_id;     /* of the next event */
  uint64_t now_ns;      /* time of the latest packet */
  uint64_t spent_ns;    /* of the latest packet too: by tracing, so far */
  tg_ScopeLive *live;   /* owns; free ones are a list */
  uint32_t nlive, clive;
  uint32_t *open;       /* owns; live ones, innermost last */
  uint32_t nopen, copen;
  tg_Suspended waiting; /* owns; the tag of a call is its live event */
  /* for the owner to set */
  tg_ScopeKinds *kinds;       /* borrows */
  tg_Timelines *timelines;    /* borrows */
  uint64_t start_ns;          /* time 0 of events */
  void (*begun) (tg_ScopeWalk *w, uint32_t live);
  void (*over) (tg_ScopeWalk *w, const tg_ScopeLive *live);
  void *owner;
  /* private */
  uint32_t first_free;
};

/* One that has the main coroutine; false without memory. */
bool tg_timelines_init (tg_Timelines *t);
void tg_timelines_free (tg_Timelines *t);     /* zeroed memory is fine */

void tg_scopewalk_init (tg_ScopeWalk *w);
void tg_scopewalk_free (tg_ScopeWalk *w);     /* zeroed memory is fine */

/* Adds a packet, in their order. */
void tg_scopewalk_add (tg_ScopeWalk *w, const tg_Packet *p);

/* A suspended coroutine will not come back ('walk' is a tg_ScopeWalk: for
   tg_reader_watch). */
void tg_scopewalk_gone (void *walk, tg_ThreadId thread);

/* There are no more packets: all that is live is over, at this time of the
   stream if it is open. */
void tg_scopewalk_end (tg_ScopeWalk *w, uint64_t end_ns);

/* An event that is live where this walk begins: open ones outermost first, then
   those that wait, coroutine by coroutine, innermost first. */
void tg_scopewalk_known (tg_ScopeWalk *w, const tg_ScopeEvent *e, bool open);

#endif
