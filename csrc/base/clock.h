/*
** clock.h - the cheapest monotonic clock there is, and its way to nanoseconds.
**
** Events carry ticks. Where a processor has a counter of steady rate a tick is
** one of its steps (half the price of clock_gettime): the invariant time stamp
** counter of x86-64, the virtual counter of ARMv8. Elsewhere a nanosecond.
*/
#ifndef TG_CLOCK_H
#define TG_CLOCK_H

#include "base/base.h"

#include <pthread.h>
#include <time.h>

/* A stream's time scale. Fixed when the stream is made. */
typedef struct tg_Clock {
  uint64_t origin;      /* ticks at time 0 */
  double ns_per_tick;
} tg_Clock;

extern bool tg_clock_steady   /* the counter is used; set by tg_clock_setup */
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

/* What the processor counts, if 'tg_clock_steady'. */
TG_INLINE uint64_t tg_clock_counter (void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t count;
  __asm__ volatile ("mrs %0, cntvct_el0" : "=r" (count));
  return count;
#else
  return 0;
#endif
}

/* Now, in ticks. */
TG_INLINE uint64_t tg_clock_ticks (void) {
  return tg_likely(tg_clock_steady) ? tg_clock_counter()
                                    : tg_clock_monotonic_ns();
}

/* The same without a call of any function; false: that cannot be had. */
TG_INLINE bool tg_clock_glance (uint64_t *ticks) {
  *ticks = tg_clock_counter();
  return tg_likely(tg_clock_steady);
}

#define TG_TIME_MAX ((double)(UINT64_C(1) << 62))   /* 146 years */

/* Ticks to nanoseconds since the clock's time 0. A recording may claim any
   number of ticks: there is a last moment. As a signed number, for which x86-64
   has an instruction; readers ask twice for each event. */
TG_INLINE uint64_t tg_clock_ns (const tg_Clock *c, uint64_t ticks) {
  if (ticks <= c->origin)
    return 0;
  double ns = (double)(ticks - c->origin) * c->ns_per_tick;
  return (uint64_t)(int64_t)(ns < TG_TIME_MAX ? ns : TG_TIME_MAX);
}

#endif
