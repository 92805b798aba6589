/*
** clock.c - which clock ticks, and how long a tick is.
**
** The rate of the processor's counter is measured against CLOCK_MONOTONIC from
** the first tg_clock_setup on: a stream made early lives with a few
** microseconds of error a second; once a second has passed since that first
** pair of readings, the rate is as good as it gets and stays for the process.
** Streams keep the rate that they began with: times of one stream must not
** jump.
**
** Any thread. 'tg_clock_steady' and the first pair are written once, under
** pthread_once; the rate is under a mutex, which fork takes (atfork.h). There
** is always some clock, so nothing here fails.
*/
#include "base/clock.h"
#include "base/atfork.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define BASELINE_MIN_NS UINT64_C(2000000)      /* before a rate means much */
#define BASELINE_FULL_NS UINT64_C(1000000000)  /* after that it is final */
#define PAIR_TRIES 5

/* Both clocks at (nearly) one moment. */
typedef struct Pair {
  uint64_t ticks;
  uint64_t ns;
} Pair;

bool tg_clock_steady;          /* the hook reads it without a lock */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t rate_mutex = PTHREAD_MUTEX_INITIALIZER;
static Pair first_pair;
static double final_rate;     /* ns per tick; 0 until final (mutex) */

/* Since some moment before the program; never set back (clock_gettime(2)). */
uint64_t tg_clock_monotonic_ns (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Waits on it count by the monotonic clock: one that somebody sets must not
   make a program wait for a day. */
void tg_clock_condition (pthread_cond_t *c) {
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(c, &attr);
  pthread_condattr_destroy(&attr);
}

struct timespec tg_clock_after (uint64_t ns) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  ns += (uint64_t)t.tv_nsec;
  t.tv_sec += (time_t)(ns / UINT64_C(1000000000));
  t.tv_nsec = (long)(ns % UINT64_C(1000000000));
  return t;
}

#if defined(__x86_64__)

/* Same rate in every state of power, and never stopping: bit 8 of EDX of leaf
   0x80000007 (Intel's manual, volume 3, "Invariant TSC"). That all processors
   count alike is the kernel's care; where one lags behind, put_time in writer.c
   lets time stand still. */
static bool is_steady (void) {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
}

#elif defined(__aarch64__)

/* By the architecture (Arm's manual, "The Generic Timer"); the kernel lets
   programs read it, as its own clock_gettime does. */
static bool is_steady (void) {
  return true;
}

#else

static bool is_steady (void) {
  return false;
}

#endif

/* The tightest of some tries: an interrupt may come between two readings. */
static Pair take_pair (void) {
  Pair best = {0, 0};
  uint64_t width = UINT64_MAX;
  for (int i = 0; i < PAIR_TRIES; i++) {
    uint64_t before = tg_clock_ticks();
    uint64_t ns = tg_clock_monotonic_ns();
    uint64_t after = tg_clock_ticks();
    if (after - before < width) {
      width = after - before;
      best = (Pair){before + width / 2, ns};
    }
  }
  return best;
}

/* The mutex that measuring takes. */
static void at_fork (tg_AtFork side) {
  tg_atfork_mutex(&rate_mutex, side);
}

static void setup (void) {
  tg_atfork_register(TG_ATFORK_CLOCK, at_fork, NULL);
  tg_clock_steady = is_steady();
  first_pair = take_pair();
}

void tg_clock_setup (void) {
  pthread_once(&once, setup);
}

/* Called with the mutex held. The first stream of a process waits up to two
   milliseconds here: a shorter baseline would be off by more than the error
   that two readings of a clock have. */
static double measure_rate (void) {
  Pair now;
  do {
    now = take_pair();
  } while (now.ns - first_pair.ns < BASELINE_MIN_NS);
  tg_assert(first_pair.ns > 0 && now.ticks > first_pair.ticks);
  double rate = (double)(now.ns - first_pair.ns)
                / (double)(now.ticks - first_pair.ticks);
  if (now.ns - first_pair.ns >= BASELINE_FULL_NS)
    final_rate = rate;
  return rate;
}

static double current_rate (void) {
  pthread_mutex_lock(&rate_mutex);
  double rate = final_rate > 0 ? final_rate : measure_rate();
  pthread_mutex_unlock(&rate_mutex);
  return rate;
}

void tg_clock_start (tg_Clock *c) {
  tg_clock_setup();
  c->ns_per_tick = tg_clock_steady ? current_rate() : 1.0;
  c->origin = tg_clock_ticks();
}

uint64_t tg_clock_wall_ns (const tg_Clock *c) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec
         - tg_clock_ns(c, tg_clock_ticks());
}
