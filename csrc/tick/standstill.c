/*
** standstill.c - see standstill.h. Opened, closed and continued on the thread
** that is watched; 'run' is the watch's own, which gets no signals. Where it
** cannot be begun there are no ticks.
*/
#include "tick/standstill.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/alloc.h"
#include "signal/signals.h"

#define SECOND UINT64_C(1000000000)

struct tg_Standstill {
  void (*tick) (void *ud);
  void *ud;
  uint64_t period_ns;
  uint32_t random;              /* of the next period (xorshift) */
  clockid_t clock;              /* processor time of who is watched */
  pthread_t thread;
  bool running;                 /* there is such a thread */
  pthread_mutex_t mutex;        /* of what follows */
  pthread_cond_t changed;
  bool ends;
};

/* ---- the watch's thread ---- */

/* 0 where the thread is no more. */
static uint64_t time_of (clockid_t clock) {
  struct timespec t;
  if (clock_gettime(clock, &t) != 0)
    return 0;
  return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Of a thread that runs, the second reading is later by the time of the
   first: processor time is exact then (cpu_clock_sample of the kernel). */
static bool stands_still (const tg_Standstill *w) {
  uint64_t before = time_of(w->clock);
  return before != 0 && time_of(w->clock) == before;
}

/* From half a period to one and a half, as a ticker's. */
static uint64_t next_period (tg_Standstill *w) {
  w->random ^= w->random << 13;
  w->random ^= w->random >> 17;
  w->random ^= w->random << 5;
  return w->period_ns / 2 + w->period_ns * (w->random >> 16) / 65536;
}

/* With the mutex. What was slept away is not made up for. */
static void wait_until (tg_Standstill *w, uint64_t *at) {
  uint64_t now = time_of(CLOCK_MONOTONIC);
  *at += next_period(w);
  if (*at < now)
    *at = now;
  struct timespec t = {(time_t)(*at / SECOND), (long)(*at % SECOND)};
  while (!w->ends
         && pthread_cond_timedwait(&w->changed, &w->mutex, &t) != ETIMEDOUT)
    ;
}

/* Without the mutex while it looks: who closes may have to wait for the end of
   a tick, but never a tick for him. */
static void *run (void *ud) {
  tg_Standstill *w = ud;
  uint64_t at = time_of(CLOCK_MONOTONIC);
  pthread_mutex_lock(&w->mutex);
  for (;;) {
    wait_until(w, &at);
    if (w->ends)
      break;
    pthread_mutex_unlock(&w->mutex);
    if (stands_still(w))
      w->tick(w->ud);
    pthread_mutex_lock(&w->mutex);
  }
  pthread_mutex_unlock(&w->mutex);
  return NULL;
}

/* ---- open, close ---- */

static bool init_changed (tg_Standstill *w) {
  pthread_condattr_t monotonic;
  pthread_mutex_init(&w->mutex, NULL);
  if (pthread_condattr_init(&monotonic) != 0)
    return false;
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  int error = pthread_cond_init(&w->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  return error == 0;
}

static bool begin (tg_Standstill *w) {
  w->ends = false;
  int error = pthread_getcpuclockid(pthread_self(), &w->clock);
  if (error != 0) {
    errno = error;
    return false;
  }
  w->running = tg_signals_thread(&w->thread, run, w);
  return w->running;
}

tg_Standstill *tg_standstill_open (uint32_t hz, void (*tick) (void *ud),
                                   void *ud) {
  tg_assert(hz > 0 && tick != NULL);
  tg_Standstill *w = tg_calloc(1, sizeof *w);
  if (w == NULL || !init_changed(w)) {
    tg_free(w);
    errno = ENOMEM;
    return NULL;
  }
  w->tick = tick;
  w->ud = ud;
  w->period_ns = SECOND / hz;
  w->random = 2463534242u;      /* Marsaglia's: any but 0 */
  if (begin(w))
    return w;
  int error = errno;
  tg_standstill_close(w);
  errno = error;
  return NULL;
}

static void end (tg_Standstill *w) {
  pthread_mutex_lock(&w->mutex);
  w->ends = true;
  pthread_cond_signal(&w->changed);
  pthread_mutex_unlock(&w->mutex);
  pthread_join(w->thread, NULL);
  w->running = false;
}

void tg_standstill_close (tg_Standstill *w) {
  if (w == NULL)
    return;
  if (w->running)
    end(w);
  pthread_cond_destroy(&w->changed);
  pthread_mutex_destroy(&w->mutex);
  tg_free(w);
}

/* What the thread held is lost with it, so both are made anew. A child that
   does nothing but call exec needs no thread: it is begun later. */
void tg_standstill_forked (tg_Standstill *w) {
  w->running = false;
  init_changed(w);
}

void tg_standstill_continue (tg_Standstill *w) {
  if (!w->running)
    begin(w);
}
