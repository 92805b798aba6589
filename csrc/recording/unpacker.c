/*
** unpacker.c - see unpacker.h. Called by the shelf with the store's mutex held.
*/
#include "recording/unpacker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/apart.h"
#include "base/atfork.h"
#include "base/clock.h"
#include "signal/signals.h"

typedef enum State {
  NOTHING,                /* is ahead */
  WORKS,                  /* the thread does, or is about to */
  GOOD,                   /* the block is there */
  FAILED                  /* it is not */
} State;

struct tg_Unpacker {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  pthread_t thread;
  bool begun;             /* the thread has been there */
  bool running;           /* it is there */
  bool ends;              /* it is to end */
  State state;
  int fd;                 /* borrows */
  const tg_Costs *costs;  /* borrows */
  uint64_t place;
  tg_Block *ahead;        /* the caller's memory; NULL if nothing is ahead */
  tg_Prices *prices;      /* the same for its lists; NULL: not asked for */
  atomic_bool awaited;    /* somebody waits for it: what is counted is enough */
  tg_Unpacking unpacking; /* owns */
  tg_Unpacker *next;      /* list of all unpackers of the process */
};

static struct {
  pthread_mutex_t mutex;
  tg_Unpacker *first;
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/*
** {==================================================================
** Forks
** ===================================================================
*/

/* The thread is not there in the child, and none begins: the block that it was
   at will not come. */
static void leave_in_child (tg_Unpacker *u) {
  u->running = false;
  u->begun = true;
  if (u->state == WORKS)
    u->state = FAILED;
  tg_clock_condition(&u->changed);
}

static void at_fork (tg_AtFork side) {
  if (side == TG_ATFORK_BEFORE)
    tg_atfork_mutex(&all.mutex, side);
  for (tg_Unpacker *u = all.first; u != NULL; u = u->next) {
    tg_atfork_mutex(&u->mutex, side);
    if (side == TG_ATFORK_CHILD)
      leave_in_child(u);
  }
  if (side != TG_ATFORK_BEFORE)
    tg_atfork_mutex(&all.mutex, side);
}

static void enlist (tg_Unpacker *u) {
  pthread_mutex_lock(&all.mutex);
  u->next = all.first;
  all.first = u;
  pthread_mutex_unlock(&all.mutex);
}

static void delist (const tg_Unpacker *u) {
  pthread_mutex_lock(&all.mutex);
  tg_Unpacker **link = &all.first;
  while (*link != u)
    link = &(*link)->next;
  *link = u->next;
  pthread_mutex_unlock(&all.mutex);
}

/* }================================================================== */

/*
** {==================================================================
** The thread
** ===================================================================
*/

/* With the mutex, which is not held while the block is read and unpacked. */
static void work (tg_Unpacker *u) {
  uint64_t place = u->place;
  tg_Block *b = u->ahead;
  tg_Prices *prices = u->prices;
  pthread_mutex_unlock(&u->mutex);
  bool good = tg_packedblock_load(&u->unpacking, u->fd, place, b);
  if (good && prices != NULL)
    prices->count = tg_prices_count(u->costs, b->data, b->unpacked,
                                    prices->list, &u->awaited);
  pthread_mutex_lock(&u->mutex);
  u->state = good ? GOOD : FAILED;
  pthread_cond_broadcast(&u->changed);
}

static void *run (void *ud) {
  tg_Unpacker *u = ud;
  pthread_mutex_lock(&u->mutex);
  while (!u->ends) {
    if (u->state == WORKS)
      work(u);
    else
      pthread_cond_wait(&u->changed, &u->mutex);
  }
  pthread_mutex_unlock(&u->mutex);
  return NULL;
}

/* With the mutex. A thread that cannot be had is not asked for again. */
static bool is_running (tg_Unpacker *u) {
  if (!u->begun)
    u->running = tg_signals_thread(&u->thread, run, u);
  u->begun = true;
  return u->running;
}

static void end_thread (tg_Unpacker *u) {
  pthread_mutex_lock(&u->mutex);
  bool running = u->running;
  u->ends = true;
  pthread_cond_broadcast(&u->changed);
  pthread_mutex_unlock(&u->mutex);
  if (running)
    pthread_join(u->thread, NULL);
}

/* }================================================================== */

tg_Unpacker *tg_unpacker_new (int fd, const tg_Costs *costs) {
  if (tg_apart || sysconf(_SC_NPROCESSORS_ONLN) < 2)
    return NULL;
  tg_Unpacker *u = tg_calloc(1, sizeof *u);
  if (u == NULL)
    return NULL;
  u->fd = fd;
  u->costs = costs;
  tg_atfork_register(TG_ATFORK_UNPACKERS, at_fork, NULL);
  pthread_mutex_init(&u->mutex, NULL);
  tg_clock_condition(&u->changed);
  enlist(u);
  return u;
}

bool tg_unpacker_begin (tg_Unpacker *u, uint64_t place, tg_Block *b,
                        tg_Prices *prices) {
  pthread_mutex_lock(&u->mutex);
  tg_assert(u->state == NOTHING && u->ahead == NULL);
  bool begins = tg_packedblock_prepare(&u->unpacking, tg_block_used(b))
                && is_running(u);
  if (begins) {
    u->place = place;
    u->ahead = b;
    u->prices = prices;
    atomic_store_explicit(&u->awaited, false, memory_order_relaxed);
    u->state = WORKS;
    pthread_cond_broadcast(&u->changed);
  }
  pthread_mutex_unlock(&u->mutex);
  return begins;
}

bool tg_unpacker_works (tg_Unpacker *u) {
  pthread_mutex_lock(&u->mutex);
  bool works = u->state == WORKS;
  pthread_mutex_unlock(&u->mutex);
  return works;
}

tg_Block *tg_unpacker_take (tg_Unpacker *u, bool *good) {
  atomic_store_explicit(&u->awaited, true, memory_order_relaxed);
  pthread_mutex_lock(&u->mutex);
  while (u->state == WORKS)
    pthread_cond_wait(&u->changed, &u->mutex);
  tg_Block *b = u->ahead;
  *good = u->state == GOOD;
  u->ahead = NULL;
  u->state = NOTHING;
  pthread_mutex_unlock(&u->mutex);
  return b;
}

void tg_unpacker_free (tg_Unpacker *u) {
  if (u == NULL)
    return;
  tg_assert(u->ahead == NULL);
  end_thread(u);
  delist(u);
  tg_packedblock_free(&u->unpacking);
  pthread_cond_destroy(&u->changed);
  pthread_mutex_destroy(&u->mutex);
  tg_free(u);
}
