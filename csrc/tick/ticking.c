/*
** ticking.c - see ticking.h. These are all the words that there are about it:
** the line that a recorded program leaves on standard error, the notes of
** 'report' and 'info' and those of 'top' are made here.
*/
#include "tick/ticking.h"

#include <inttypes.h>

#define LONG_NS 50000000        /* that ticks may wait for a hook */

static _Atomic uint64_t *place (tg_Ticking *t, int i) {
  _Atomic uint64_t *const places[TG_TICKING_FIGURES] = {
    &t->period_ns, &t->timer_ns, &t->seen, &t->blocked, &t->waiting
  };
  return places[i];
}

void tg_ticking_get (const tg_Ticking *t, uint64_t to[TG_TICKING_FIGURES]) {
  tg_Ticking *from = (tg_Ticking *)(uintptr_t)t;
  for (int i = 0; i < TG_TICKING_FIGURES; i++)
    to[i] = atomic_load_explicit(place(from, i), memory_order_relaxed);
}

void tg_ticking_set (tg_Ticking *t, const uint64_t from[TG_TICKING_FIGURES]) {
  for (int i = 0; i < TG_TICKING_FIGURES; i++)
    atomic_store_explicit(place(t, i), from[i], memory_order_relaxed);
}

/* "1,234,567" */
static void add_count (tg_Buf *out, uint64_t n) {
  if (n < 1000) {
    tg_buf_addfmt(out, "%" PRIu64, n);
    return;
  }
  add_count(out, n / 1000);
  tg_buf_addfmt(out, ",%03" PRIu64, n % 1000);
}

static void add_ticks (tg_Buf *out, uint64_t n) {
  add_count(out, n);
  tg_buf_addstr(out, n == 1 ? " tick" : " ticks");
}

static bool tell_timer (uint64_t timer_ns, tg_Buf *out) {
  if (timer_ns == 0)
    return false;
  tg_buf_addfmt(out, "the system refused perf events: a timer ticks, every"
                " %.3g ms at most", (double)timer_ns / 1e6);
  return true;
}

static bool tell_blocked (uint64_t seen, uint64_t blocked, tg_Buf *out) {
  if (blocked == 0)
    return false;
  if (seen == 0)
    tg_buf_addstr(out, "all ");
  else {
    add_count(out, blocked);
    tg_buf_addstr(out, " of ");
  }
  add_ticks(out, seen + blocked);
  tg_buf_addstr(out, " came while signals were blocked: what ran then ");
  tg_buf_addstr(out, seen == 0 ? "is not known" : "is shown as what ran next");
  return true;
}

/* A C function of a few milliseconds is nothing to tell of. */
static bool tell_waiting (uint64_t waiting, uint64_t period_ns, tg_Buf *out) {
  if (waiting < 2 || waiting < LONG_NS / (period_ns + 1))
    return false;
  tg_buf_addstr(out, "the last ");
  add_ticks(out, waiting);
  tg_buf_addstr(out, " came in a C function that did not return: what ran then"
                " is not known");
  return true;
}

bool tg_ticking_tell (const tg_Ticking *t, tg_TickingNote which, tg_Buf *out) {
  switch (which) {
    case TG_TICKING_TIMER:
      return tell_timer(t->timer_ns, out);
    case TG_TICKING_BLOCKED:
      return tell_blocked(t->seen, t->blocked, out);
    case TG_TICKING_WAITING:
      return tell_waiting(t->waiting, t->period_ns, out);
    case TG_TICKING_NOTES:
    default:
      return false;
  }
}
