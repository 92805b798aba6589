/*
** suspended.h - calls that have yielded, until their coroutine goes on.
**
** A frame that yields and is resumed gives two pairs of packets, but it is one
** call. Packets do not name frames; what they say is the order: the frames of a
** coroutine exit innermost first and come back outermost first. So those of
** each coroutine are a stack:
**
**     yield    <c  <b  <a        parked  c b a
**     resume           >a  >b    parked  c
**
** What a depth limit hides of one stay and shows of another is always at the
** inner end; a call that is still parked when its coroutine yields anew was
** hidden meanwhile, and is over as far as anybody can tell.
**
** Plain C, one thread. Memory: what is parked.
*/
#ifndef TG_SUSPENDED_H
#define TG_SUSPENDED_H

#include "base/base.h"
#include "base/intmap.h"

/* A call, or what has been seen of it. */
typedef struct tg_SuspendedCall {
  uint32_t row;         /* whose it is: the caller's number for a function */
  bool counted;         /* its first entry has been seen */
  uint64_t ran_ns;      /* so far, without its waits */
  uint64_t tag;         /* the caller's */
} tg_SuspendedCall;

/* The calls of one coroutine. */
typedef struct tg_Parked {
  tg_SuspendedCall *calls; /* owns; outermost last */
  uint32_t count, capacity;
  tg_ThreadId thread;
  uint32_t next_free;   /* of a place that is not used */
} tg_Parked;

typedef struct tg_Suspended {
  tg_Parked *list;      /* owns */
  uint32_t used, capacity;
  uint32_t first_free;  /* place not used, TG_INTMAP_NONE if none */
  uint32_t leaving;     /* place of the coroutine whose frames are just being
                           parked, TG_INTMAP_NONE if none is */
  tg_IntMap places;     /* owns; by thread */
  /* Told of every parked call that will not go on. */
  void (*over) (void *owner, const tg_SuspendedCall *call);
  void *owner;          /* borrows */
} tg_Suspended;

void tg_suspended_init (tg_Suspended *w,
                        void (*over)(void *, const tg_SuspendedCall *),
                        void *owner);
void tg_suspended_free (tg_Suspended *w);     /* zeroed memory is fine */

/* The next outer frame of a coroutine that yields; false without memory. */
bool tg_suspended_park (tg_Suspended *w, tg_ThreadId thread, const
tg_SuspendedCall *call);

/* Something else has happened than an exit by yield. */
TG_INLINE void tg_suspended_pass (tg_Suspended *w) {
  w->leaving = TG_INTMAP_NONE;
}

/* The call that goes on now; false if it is not known. */
bool tg_suspended_resume (tg_Suspended *w, tg_ThreadId thread, uint32_t row,
                          tg_SuspendedCall *call);

/* The last frame of a coroutine has gone, not by a yield. */
void tg_suspended_end (tg_Suspended *w, tg_ThreadId thread);

/* Nothing more will happen: all calls are over. */
void tg_suspended_finish (tg_Suspended *w);

#endif
