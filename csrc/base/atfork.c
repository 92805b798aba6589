/*
** atfork.c - the list of who is told of a fork and of the end of the process.
** Called by the C library: by the thread that forks, and by the one that exits
** or unloads the library. Without memory for it a fork goes untold, and may
** find a mutex taken.
*/
#include "base/atfork.h"

static struct {
  pthread_mutex_t mutex;        /* nobody registers while a fork goes on */
  struct {
    void (*fork) (tg_AtFork side);
    void (*exit) (void);
  } places[TG_ATFORK_PLACES];
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void tell (int place, tg_AtFork side) {
  if (all.places[place].fork != NULL)
    all.places[place].fork(side);
}

/* All mutexes, in order; they are held until the fork is over. */
static void before_fork (void) {
  pthread_mutex_lock(&all.mutex);
  for (int i = 0; i < TG_ATFORK_PLACES; i++)
    tell(i, TG_ATFORK_BEFORE);
}

/* On either side, in the other order. The list's own mutex last: nobody
   registers before all is as it was. */
static void after_fork (tg_AtFork side) {
  for (int i = TG_ATFORK_PLACES; i-- > 0; )
    tell(i, side);
  pthread_mutex_unlock(&all.mutex);
}

static void in_parent (void) {
  after_fork(TG_ATFORK_PARENT);
}

static void in_child (void) {
  after_fork(TG_ATFORK_CHILD);
}

/* Once for the process: POSIX has no way to take a handler back. glibc forgets
   them when the library is unloaded. */
static void watch_forks (void) {
  pthread_atfork(before_fork, in_parent, in_child);
}

/* Any number of times: each place has one user, who says the same each time. */
void tg_atfork_register (tg_AtForkPlace place, void (*fork) (tg_AtFork side),
                         void (*exit) (void)) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  tg_check(place < TG_ATFORK_PLACES && fork != NULL);
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&all.mutex);
  all.places[place].fork = fork;
  all.places[place].exit = exit;
  pthread_mutex_unlock(&all.mutex);
}

/* A destructor rather than atexit: a library that is unloaded before the end
   must not be called any more then. */
__attribute__((destructor))
static void at_exit (void) {
  for (int i = 0; i < TG_ATFORK_PLACES; i++) {
    pthread_mutex_lock(&all.mutex);
    void (*exit) (void) = all.places[i].exit;
    pthread_mutex_unlock(&all.mutex);
    if (exit != NULL)
      exit();
  }
}
