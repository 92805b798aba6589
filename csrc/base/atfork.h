/*
** atfork.h - the process forks or exits: who is told, in which order.
**
** Mutexes over a fork: they are taken before it, by the thread that forks, and
** given back after it on both sides. So the child finds none in the hands of a
** thread that it does not have, and whole data behind each.
**
** The order is that of the places below. Before a fork mutexes are taken from
** the first place to the last, as they are nested elsewhere: who has a session
** may come to its channel, who has the server's mutex takes those of channels,
** who has a channel's takes a store's, who has a store's takes a packer's or an
** unpacker's;
** nothing is taken inside of those of the own functions, the proof and the
** clock. They are given back from the last to the first, so what sessions do in
** the child finds all others whole.
**
** At exit it is the same order: first sessions end, which writes their last
** events, then the server sends them; the own functions are forgotten when
** nobody asks for them any more.
*/
#ifndef TG_ATFORK_H
#define TG_ATFORK_H

#include <pthread.h>

#include "base/base.h"

typedef enum tg_AtFork {
  TG_ATFORK_BEFORE, TG_ATFORK_PARENT, TG_ATFORK_CHILD
} tg_AtFork;

typedef enum tg_AtForkPlace {
  TG_ATFORK_HOSTS, TG_ATFORK_SERVER, TG_ATFORK_OWN, TG_ATFORK_PROOF,
  TG_ATFORK_CLOCK, TG_ATFORK_STREAMS, TG_ATFORK_PACKERS,
  TG_ATFORK_UNPACKERS, TG_ATFORK_TICKERS, TG_ATFORK_COVERAGE, TG_ATFORK_PLACES
} tg_AtForkPlace;

/* From now on 'fork' is called on each side of a fork, and 'exit' when the
   process exits or unloads the library; 'exit' may be NULL. Again at the same
   place is fine. Not with a mutex of a place held. */
void tg_atfork_register (tg_AtForkPlace place, void (*fork) (tg_AtFork side),
                         void (*exit) (void));

TG_INLINE void tg_atfork_mutex (pthread_mutex_t *m, tg_AtFork side) {
  if (side == TG_ATFORK_BEFORE)
    pthread_mutex_lock(m);
  else
    pthread_mutex_unlock(m);
}

#endif
