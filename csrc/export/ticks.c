/*
** ticks.c - see ticks.h. Called by formats, on the thread that writes. Nothing
** here can fail: what a damaged file says of times is a number like any
** other.
*/
#include "export/ticks.h"

void tg_ticks_ask (tg_Export *x) {
  tg_check(!x->begun);
  tg_reader_tick(x->minduration->reader);
}

/* The option's range is checked where it is read, but not in a file. */
uint64_t tg_ticks_period (const tg_Export *x) {
  uint64_t period = UINT64_C(1000000000) / x->selection->sample;
  return period > 0 ? period : 1;
}

/* Periods vary from a half to one and a half of what was asked for
   (docs/samples.md), so up to that it is one. */
uint64_t tg_ticks_count (const tg_Export *x, uint64_t ns) {
  uint64_t period = tg_ticks_period(x);
  uint64_t n = ns / period + (ns % period > period / 2);
  return n > 0 ? n : 1;
}

uint64_t tg_ticks_limit (const tg_Export *x, const tg_Format *format) {
  return format->ticks && tg_ticks_only(x) ? 0 : format->limit;
}

uint64_t tg_ticks_begin (const tg_Packet *tick, uint64_t before_ns) {
  tg_assert(tick->time_ns >= before_ns);
  return tick->opened_ns > before_ns ? tick->opened_ns : before_ns;
}
