/*
** sampletime.c - see sampletime.h.
*/
#include "sample/sampletime.h"

#include "tick/ticker.h"

#define STILL_NS 100000000      /* in the same C function: then samples are */
#define SPARSE_NS 500000000     /* less and less often, but so often */
#define OTHERS_NS 50000         /* to ask for less is not worth it */

static void start (tg_SampleTime *t, uint64_t now, uint64_t used_ns) {
  t->used_ns = used_ns;
  t->own_ns = t->hook_ns = t->held_ns = 0;
  t->waits = t->by_clock && t->delays.fd < 0 ? tg_ticker_waits() : 0;
  t->at = now;
}

void tg_sampletime_begin (tg_SampleTime *t, uint64_t now, uint64_t used_ns) {
  start(t, now, used_ns);
  t->still_ns = t->used_ns;
  t->told = now;
  t->owed_ns = t->others_ns = 0;
  t->delayed_ns = 0;
  tg_delays_ask(&t->delays, &t->delayed_ns);
}

bool tg_sampletime_can_wait (tg_SampleTime *t, bool same, uint64_t used_ns) {
  if (!same)
    t->still_ns = used_ns;
  uint64_t still = used_ns - t->still_ns;
  uint64_t rest = (still > STILL_NS) ? (still - STILL_NS) / 16 : 0;
  uint64_t most = rest < SPARSE_NS ? rest : SPARSE_NS;
  return t->own_ns + used_ns - t->used_ns < most;
}

void tg_sampletime_hold (tg_SampleTime *t, uint64_t now, uint64_t used_ns,
                         uint32_t ticks) {
  t->held_ns = t->own_ns + (used_ns > t->used_ns ? used_ns - t->used_ns : 0);
  t->held_at = now;
  t->held_ticks = ticks;
}

uint64_t tg_sampletime_release (tg_SampleTime *t) {
  uint64_t ns = t->held_ns;
  uint64_t own = ns < t->own_ns ? ns : t->own_ns;
  t->own_ns -= own;
  t->used_ns += ns - own;
  t->at = t->held_at;
  t->held_ns = 0;
  return ns;
}

/* By what the kernel counts; without that all of the time, if the program has
   waited for nothing else meanwhile. */
static uint64_t ask_others (tg_SampleTime *t, uint64_t idle_ns) {
  uint64_t before_ns = t->delayed_ns;
  if (!tg_delays_ask(&t->delays, &t->delayed_ns))
    return t->by_clock && tg_ticker_waits() == t->waits ? idle_ns : 0;
  uint64_t ns = t->delayed_ns > before_ns ? t->delayed_ns - before_ns : 0;
  return ns < idle_ns ? ns : idle_ns;
}

uint64_t tg_sampletime_others (tg_SampleTime *t, uint64_t now,
                               uint64_t used_ns) {
  double passed = now > t->at ? (double)(now - t->at) * t->ns_per_tick : 0;
  uint64_t ran = t->own_ns + t->hook_ns
                 + (used_ns > t->used_ns ? used_ns - t->used_ns : 0);
  uint64_t passed_ns = (uint64_t)passed;
  return passed_ns > ran + OTHERS_NS ? ask_others(t, passed_ns - ran) : 0;
}

uint64_t tg_sampletime_used (tg_SampleTime *t, uint64_t now, uint64_t used_ns) {
  uint64_t before_ns = t->used_ns, own_ns = t->own_ns;
  start(t, now, used_ns);
  return own_ns + (used_ns > before_ns ? used_ns - before_ns : 0);
}

/* The part of 'left' that an account has, in the stream's ticks. */
static uint64_t part_of (const tg_SampleTime *t, double ns, uint64_t left) {
  uint64_t part = (uint64_t)(ns / t->ns_per_tick);
  return part < left ? part : left;
}

/* How much of the time that is left a finding has. What the processor's ticks
   find is told with that, and is not owed any more. */
static uint64_t time_of (tg_SampleTime *t, tg_Finding found, uint64_t left) {
  uint64_t run = part_of(t, t->owed_ns, left);
  uint64_t others = part_of(t, t->others_ns, left);
  switch (found) {
    case TG_FINDING_RUNNING: t->owed_ns = 0; return run;
    case TG_FINDING_PREEMPTED: t->others_ns = 0; return others;
    case TG_FINDING_LAST: t->owed_ns = t->others_ns = 0; return left;
    case TG_FINDING_WAITING: default:
      return run + others < left ? left - run - others : 0;
  }
}

uint64_t tg_sampletime_until (tg_SampleTime *t, uint64_t now, uint64_t used_ns,
                              tg_Finding found, uint64_t last) {
  uint64_t left = (now > t->told) ? now - t->told : 0;
  t->others_ns += (double)tg_sampletime_others(t, now, used_ns);
  t->owed_ns += (double)tg_sampletime_used(t, now, used_ns);
  uint64_t until = t->told + time_of(t, found, left);
  return (until > last) ? until : last;
}
