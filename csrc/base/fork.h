/*
** fork.h - mutexes over a fork: taken before it, by the one that forks, given
** back after it on both sides. So the child finds none in the hands of a thread
** that it does not have, and whole data behind each. sessions.c has the order.
*/
#ifndef TG_FORK_H
#define TG_FORK_H

#include <pthread.h>

#include "base/base.h"

typedef enum tg_Fork {
  TG_FORK_BEFORE, TG_FORK_PARENT, TG_FORK_CHILD
} tg_Fork;

TG_INLINE void tg_fork_mutex (pthread_mutex_t *m, tg_Fork side) {
  if (side == TG_FORK_BEFORE)
    pthread_mutex_lock(m);
  else
    pthread_mutex_unlock(m);
}

#endif
