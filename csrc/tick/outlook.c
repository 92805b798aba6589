/*
** outlook.c - see outlook.h. What another thread has blocked is known from
** /proc alone (proc(5)), which is looked at only if ticks are missing. A number
** that another thread has got meanwhile is of no harm: figures are wrong for a
** moment.
*/
#include "tick/outlook.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MISSING_NS 250000000    /* of processor time without a tick */

void tg_outlook_begin (tg_Outlook *o, const tg_Ticker *ticker) {
  clockid_t clock;
  o->thread = 0;
  if (pthread_getcpuclockid(pthread_self(), &clock) != 0)
    return;
  o->clock = clock;
  o->last_ns = tg_ticker_used_ns();
  o->signal = tg_ticker_signal(ticker);
  o->thread = (int)syscall(SYS_gettid);
}

void tg_outlook_end (tg_Outlook *o) {
  o->thread = 0;
}

/* 0 where the thread is no more. */
static uint64_t time_of (clockid_t clock) {
  struct timespec t;
  if (clock_gettime(clock, &t) != 0)
    return 0;
  return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static bool is_blocked (int thread, int signal) {
  char line[128];
  uint64_t blocked = 0;
  snprintf(line, sizeof line, "/proc/self/task/%d/status", thread);
  FILE *f = fopen(line, "rbe");
  if (f == NULL)
    return false;
  while (fgets(line, sizeof line, f) != NULL
         && sscanf(line, "SigBlk: %" SCNx64, &blocked) != 1)
    continue;
  fclose(f);
  return (blocked >> (signal - 1)) & 1;
}

void tg_outlook_get (const tg_Outlook *o, const tg_Ticking *t,
                     uint64_t to[TG_TICKING_FIGURES]) {
  int thread = o->thread, signal = o->signal;
  uint64_t last_ns = o->last_ns, period_ns = t->period_ns;
  tg_ticking_get(t, to);
  if (thread == 0 || period_ns == 0)
    return;
  uint64_t now_ns = time_of(o->clock);
  if (now_ns > last_ns && now_ns - last_ns > MISSING_NS
      && is_blocked(thread, signal))
    to[TG_TICKING_AT_BLOCKED] += (now_ns - last_ns) / period_ns;
}
