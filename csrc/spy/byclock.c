/* byclock.c - see byclock.h. */
#include "spy/byclock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "outside/process.h"
#include "spy/sampling.h"

#define SECOND_NS UINT64_C(1000000000)

/* ---- what the kernel counts ---- */

/* Of a thread: it ran, and it waited for a processor. */
typedef struct Counts {
  uint64_t used_ns, delayed_ns;
} Counts;

/* The first two numbers of schedstat (proc(5), sched). Where the kernel does
   not tell, the time of the process. False: the thread has ended. */
static bool read_counts (const tg_Spy *y, int tid, Counts *counts) {
  char name[64], text[128];
  int pid = y->target.memory.pid;
  char *end;
  snprintf(name, sizeof name, "task/%d/schedstat", tid);
  if (tid == 0 || !tg_process_read(pid, name, text, sizeof text)) {
    *counts = (Counts){.used_ns = tg_process_cpu(pid)};
    return tid == 0 || tg_process_state(pid, tid) != '\0';
  }
  counts->used_ns = strtoull(text, &end, 10);
  counts->delayed_ns = strtoull(end, NULL, 10);
  return true;
}

/* ---- which thread ---- */

static bool waits_on (const tg_Spy *y, int tid, const tg_Map *map) {
  uint64_t stack = tg_halt_waits(y->target.memory.pid, tid);
  return stack >= map->start && stack < map->end;
}

/* The first thread's stack is known as such; others tell where theirs is while
   they wait. */
static int thread_of (tg_Spy *y, uint32_t state) {
  tg_Memory *m = &y->target.memory;
  tg_SeenState main;
  int list[TG_SPY_THREADS];
  uint32_t n = tg_halt_threads(m->pid, list, TG_SPY_THREADS);
  if (n == 1)
    return list[0];
  tg_memory_forget(m);
  if (!tg_state_read(&y->target.sight, y->target.found.mains[state], &main))
    return 0;
  const tg_Map *map = tg_maps_find(&m->maps, main.jump);
  if (map != NULL && (map->flags & TG_MAP_STACK) != 0)
    return m->pid;
  for (uint32_t i = 0; map != NULL && i < n; i++) {
    if (waits_on(y, list[i], map))
      return list[i];
  }
  return 0;
}

/* ---- one state ---- */

/* Its thread is looked for until it is known, and anew when it has ended. What
   was counted of another one, or of the process, is no beginning. */
static Counts find_counts (tg_Spy *y, uint32_t state) {
  tg_SpyClocked *c = &y->clocked[state];
  Counts counts;
  if (c->tid != 0 && read_counts(y, c->tid, &counts))
    return counts;
  int tid = thread_of(y, state);
  bool good = read_counts(y, tid, &counts);
  c->begun = c->begun && good && tid == c->tid;
  c->tid = good ? tid : 0;
  return counts;
}

static uint64_t grown (uint64_t now, uint64_t before) {
  return (now > before) ? now - before : 0;
}

/* The time that has passed is added to what is still to be told. Counts of the
   kernel move by its own steps, so a thread that runs is first seen to wait:
   what they are ahead of the clock by then is not counted twice. Several
   threads may be ahead for ever. False: it has not run meanwhile, as far as the
   kernel tells. */
static bool split (tg_SpyClocked *c, const Counts *counts, uint64_t passed) {
  uint64_t ran = 0, delayed = 0;
  if (c->begun) {
    ran = grown(counts->used_ns, c->used_ns);
    delayed = grown(counts->delayed_ns, c->delayed_ns);
  }
  uint64_t counted = ran + delayed + c->ahead_ns;
  c->used_ns = counts->used_ns;
  c->delayed_ns = counts->delayed_ns;
  c->ahead_ns = (c->tid != 0) ? grown(counted, passed) : 0;
  c->begun = true;
  c->untold.ran += ran;
  c->untold.delayed += delayed;
  c->untold.waited += grown(passed, counted);
  return ran > 0;
}

static void put (tg_Spy *y, uint64_t ns, uint64_t ago_ns, uint32_t count,
                 bool waited) {
  double rate = y->writing.stream->clock.ns_per_tick;
  tg_SpyTime t = {.ns = ns, .count = count, .waited = waited};
  if (ns == 0)
    return;
  t.ticks = tg_clock_ticks() - (uint64_t)((double)ago_ns / rate);
  if (!tg_spywriting_put(&y->writing, &t))
    y->end = TG_SPY_FULL;
}

static void put_by_clock (tg_Spy *y, const tg_SpyPassed *p) {
  put(y, p->ran, p->waited + p->delayed, p->ran > 0, false);
  put(y, p->waited, p->delayed, p->ran == 0, true);
  if (p->delayed > 0 && tg_spywriting_preempt(&y->writing))
    put(y, p->delayed, 0, 0, true);
}

/* The time of a look that is given up is the next one's. */
static void sample (tg_Spy *y, uint32_t state, uint64_t passed) {
  tg_SpyClocked *c = &y->clocked[state];
  Counts counts = find_counts(y, state);
  bool has_run = split(c, &counts, passed);
  if (!y->plan.wall && !has_run)
    return;
  if (!tg_spy_sample(y, state, c->tid, NULL))
    return;
  tg_SpyPassed p = c->untold;
  c->untold = (tg_SpyPassed){0};
  if (y->plan.wall)
    put_by_clock(y, &p);
  else
    put(y, p.ran, 0, 1, false);
}

/* ---- when ---- */

/* From half a period to one and a half: what has a rhythm of its own is not
   always met at the same place. */
static uint64_t next_period (tg_Spy *y) {
  uint64_t period = SECOND_NS / y->plan.hz;
  y->random ^= y->random << 13;
  y->random ^= y->random >> 17;
  y->random ^= y->random << 5;
  return period / 2 + period * (y->random >> 16) / 65536;
}

static void sleep_until (uint64_t at) {
  struct timespec t = {(time_t)(at / SECOND_NS), (long)(at % SECOND_NS)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

void tg_spy_by_clock (tg_Spy *y, uint64_t until) {
  sleep_until(y->next_ns < until ? y->next_ns : until);
  uint64_t now = tg_clock_monotonic_ns();
  if (now < y->next_ns)
    return;
  uint64_t passed = now - y->last_ns;
  y->last_ns = now;
  y->next_ns = now + next_period(y);
  for (uint32_t i = 0; i < y->target.found.nstates
                       && y->end == TG_SPY_RUNS; i++)
    sample(y, i, passed);
}
