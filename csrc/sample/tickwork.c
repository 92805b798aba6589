/*
** tickwork.c - see tickwork.h.
*/
#include "sample/tickwork.h"

#define SHORT_NS 20000          /* in which others cannot have run for long */

/* The thread's time now, soon after 'begun'. The kernel is asked for it only if
   the clock says that others may have had the processor meanwhile: to ask is a
   system call, and most ticks take a microsecond or two. */
static uint64_t used_since (const tg_TickWork *w, tg_TickMoment begun) {
  double ns = (double)(tg_clock_ticks() - begun.ticks) * w->ns_per_tick;
  return (ns < SHORT_NS) ? begun.used_ns + (uint64_t)ns : tg_ticker_used_ns();
}

void tg_tickwork_begin (tg_TickWork *w) {
  w->works = true;
  atomic_signal_fence(memory_order_seq_cst);
}

void tg_tickwork_end (tg_TickWork *w, tg_TickMoment begun) {
  uint64_t owed = tg_tickwork_owes(w, begun.used_ns);
  w->rested_ns = used_since(w, begun);
  w->worked_ns = owed + w->rested_ns - begun.used_ns;
  atomic_signal_fence(memory_order_seq_cst);
  w->works = false;
}

void tg_tickwork_note (tg_TickWork *w, tg_TickMoment begun, unsigned times) {
  w->rested_ns = used_since(w, begun);
  w->worked_ns = times * (w->rested_ns - begun.used_ns);
}
