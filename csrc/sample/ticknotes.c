/*
** ticknotes.c - see ticknotes.h.
*/
#include "sample/ticknotes.h"

#define SECOND_NS UINT64_C(1000000000)

void tg_ticknotes_begin (tg_Stream *s, const tg_Ticker *ticker, uint32_t hz) {
  s->ticking.period_ns = SECOND_NS / hz;
  s->ticking.timer_ns = tg_ticker_timer_ns(ticker);
  tg_outlook_begin(&s->outlook, ticker);
  tg_stream_note_ticking(s);
}

void tg_ticknotes_end (tg_Stream *s) {
  tg_outlook_end(&s->outlook);
}

/* What is noted in a file goes to the parent's file still. */
void tg_ticknotes_forked (tg_Stream *s) {
  static const uint64_t nothing[TG_TICKING_FIGURES];
  s->noted = NULL;
  tg_ticking_set(&s->ticking, nothing);
}

bool tg_ticknotes_come (tg_Stream *s, tg_Ticker *ticker, uint64_t used_ns) {
  bool queued;
  s->outlook.last_ns = used_ns;
  s->ticking.blocked += tg_ticker_note(ticker, used_ns, &queued);
  s->ticking.seen += !queued;
  return queued;
}

void tg_ticknotes_waiting (tg_Stream *s, uint64_t ticks) {
  s->ticking.waiting = ticks;
  tg_stream_note_ticking(s);
}

void tg_ticknotes_outstanding (tg_Stream *s, tg_Ticker *ticker,
                               uint64_t used_ns) {
  s->ticking.blocked += tg_ticker_outstanding(ticker, used_ns);
  s->outlook.last_ns = used_ns;
  tg_stream_note_ticking(s);
}
