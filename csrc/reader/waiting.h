/*
** waiting.h - calls that have yielded, until their coroutine goes on.
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
#ifndef TG_WAITING_H
#define TG_WAITING_H

#include "base/base.h"
#include "base/index.h"

/* A call, or what has been seen of it. */
typedef struct tg_Call {
  uint32_t row;         /* whose it is: the caller's number for a function */
  bool counted;         /* its first entry has been seen */
  uint64_t ran_ns;      /* so far, without its waits */
  uint64_t tag;         /* the caller's */
} tg_Call;

/* The calls of one coroutine. */
typedef struct tg_Parked {
  tg_Call *calls;       /* owns; outermost last */
  uint32_t count, capacity;
  tg_ThreadId thread;
  uint32_t next_free;   /* of a place that is not used */
} tg_Parked;

typedef struct tg_Waiting {
  tg_Parked *list;      /* owns */
  uint32_t used, capacity;
  uint32_t first_free;  /* place not used, TG_INDEX_NONE if none */
  uint32_t leaving;     /* place of the coroutine whose frames are just being
                           parked, TG_INDEX_NONE if none is */
  tg_Index places;      /* owns; by thread */
  /* Told of every parked call that will not go on. */
  void (*over) (void *owner, const tg_Call *call);
  void *owner;          /* borrows */
} tg_Waiting;

void tg_waiting_init (tg_Waiting *w, void (*over) (void *, const tg_Call *),
                      void *owner);
void tg_waiting_free (tg_Waiting *w);         /* zeroed memory is fine */

/* The next outer frame of a coroutine that yields; false without memory. */
bool tg_waiting_park (tg_Waiting *w, tg_ThreadId thread, const tg_Call *call);

/* Something else has happened than an exit by yield. */
TG_INLINE void tg_waiting_pass (tg_Waiting *w) {
  w->leaving = TG_INDEX_NONE;
}

/* The call that goes on now; false if it is not known. */
bool tg_waiting_resume (tg_Waiting *w, tg_ThreadId thread, uint32_t row,
                        tg_Call *call);

/* The last frame of a coroutine has gone, not by a yield. */
void tg_waiting_end (tg_Waiting *w, tg_ThreadId thread);

/* Nothing more will happen: all calls are over. */
void tg_waiting_finish (tg_Waiting *w);

#endif
