/*
** atfork.h - mutexes over a fork: taken before it, by the one that forks, given
** back after it on both sides. So the child finds none in the hands of a thread
** that it does not have, and whole data behind each. process.c has the order.
*/
#ifndef TG_ATFORK_H
#define TG_ATFORK_H

#include <pthread.h>

#include "base/base.h"

typedef enum tg_AtFork {
  TG_ATFORK_BEFORE, TG_ATFORK_PARENT, TG_ATFORK_CHILD
} tg_AtFork;

TG_INLINE void tg_atfork_mutex (pthread_mutex_t *m, tg_AtFork side) {
  if (side == TG_ATFORK_BEFORE)
    pthread_mutex_lock(m);
  else
    pthread_mutex_unlock(m);
}

#endif
