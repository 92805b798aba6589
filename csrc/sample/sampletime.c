/*
** sampletime.c - see sampletime.h.
*/
#include "sample/sampletime.h"

#include "tick/ticker.h"

#define STILL_NS 100000000      /* in the same C function: then samples are */
#define SPARSE_NS 500000000     /* less and less often, but so often */

static void start (tg_SampleTime *t, uint64_t now, uint64_t used_ns) {
  t->used_ns = used_ns;
  t->own_ns = t->hook_ns = 0;
  t->waits = t->by_clock ? tg_ticker_waits() : 0;
  t->at = now;
}

void tg_sampletime_begin (tg_SampleTime *t, uint64_t now, uint64_t used_ns) {
  start(t, now, used_ns);
  t->still_ns = t->used_ns;
  t->told = now;
  t->owed_ns = 0;
}

bool tg_sampletime_can_wait (tg_SampleTime *t, bool same, uint64_t used_ns) {
  if (!same)
    t->still_ns = used_ns;
  uint64_t still = used_ns - t->still_ns;
  uint64_t rest = (still > STILL_NS) ? (still - STILL_NS) / 16 : 0;
  uint64_t most = rest < SPARSE_NS ? rest : SPARSE_NS;
  return t->own_ns + used_ns - t->used_ns < most;
}

uint64_t tg_sampletime_used (tg_SampleTime *t, uint64_t now, uint64_t used_ns) {
  uint64_t before_ns = t->used_ns, own_ns = t->own_ns;
  start(t, now, used_ns);
  return own_ns + (used_ns > before_ns ? used_ns - before_ns : 0);
}

/* How long the program has run since then, or would have if others had not had
   the processor: the processor time if the program has waited meanwhile, or
   else all of the time. */
static uint64_t time_run (tg_SampleTime *t, uint64_t now, uint64_t used_ns) {
  uint64_t waits = t->waits, at = t->at;
  uint64_t used = tg_sampletime_used(t, now, used_ns);
  double passed = (now > at) ? (double)(now - at) * t->ns_per_tick : 0;
  bool waited = t->waits != waits;
  return (waited || passed < (double)used) ? used : (uint64_t)passed;
}

uint64_t tg_sampletime_until (tg_SampleTime *t, uint64_t now, uint64_t used_ns,
                              tg_Finding found, uint64_t last) {
  uint64_t left = (now > t->told) ? now - t->told : 0;
  t->owed_ns += (double)time_run(t, now, used_ns);
  uint64_t owed = (uint64_t)(t->owed_ns / t->ns_per_tick);
  if (owed > left)
    owed = left;
  if (found != TG_FINDING_WAITING)
    t->owed_ns = 0;
  uint64_t until = t->told + owed;
  if (found == TG_FINDING_LAST)
    until = t->told + left;
  else if (found == TG_FINDING_WAITING)
    until = t->told + left - owed;
  return (until > last) ? until : last;
}
