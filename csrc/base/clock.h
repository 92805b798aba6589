/*
** clock.h - the cheapest monotonic clock there is, and its way to nanoseconds.
**
** Events carry ticks. On x86-64 with an invariant time stamp counter a tick is
** one of its cycles (half the price of clock_gettime); elsewhere a nanosecond.
*/
#ifndef TG_CLOCK_H
#define TG_CLOCK_H

#include "base/base.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif
#include <pthread.h>
#include <time.h>

/* A stream's time scale. Fixed when the stream is made. */
typedef struct tg_Clock {
  uint64_t origin;      /* ticks at time 0 */
  double ns_per_tick;
} tg_Clock;

extern bool tg_clock_tsc   /* set once by tg_clock_setup */
  __attribute__((visibility("hidden")));

/* Chooses the clock; safe to call often, from any thread. */
void tg_clock_setup (void);

/* A time scale whose time 0 is now. */
void tg_clock_start (tg_Clock *c);

/* The clock's time 0 in nanoseconds since 1970. */
uint64_t tg_clock_wall_ns (const tg_Clock *c);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t tg_clock_monotonic_ns (void);

/* A condition whose timed waits go by CLOCK_MONOTONIC: somebody may set the
   other one meanwhile. And that many ns from now, for such a wait. */
void tg_clock_condition (pthread_cond_t *c);
struct timespec tg_clock_after (uint64_t ns);

/* Now, in ticks. */
TG_INLINE uint64_t tg_clock_ticks (void) {
#if defined(__x86_64__)
  if (tg_likely(tg_clock_tsc))
    return __rdtsc();
#endif
  return tg_clock_monotonic_ns();
}

/* The same without a call of any function; false: that cannot be had. */
TG_INLINE bool tg_clock_glance (uint64_t *ticks) {
#if defined(__x86_64__)
  if (tg_likely(tg_clock_tsc)) {
    *ticks = __rdtsc();
    return true;
  }
#endif
  *ticks = 0;
  return false;
}

#define TG_TIME_MAX ((double)(UINT64_C(1) << 62))   /* 146 years */

/* Ticks to nanoseconds since the clock's time 0. A recording may claim any
   number of ticks: there is a last moment. */
TG_INLINE uint64_t tg_clock_ns (const tg_Clock *c, uint64_t ticks) {
  if (ticks <= c->origin)
    return 0;
  double ns = (double)(ticks - c->origin) * c->ns_per_tick;
  return (uint64_t)(ns < TG_TIME_MAX ? ns : TG_TIME_MAX);
}

#endif
