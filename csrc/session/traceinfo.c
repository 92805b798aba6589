/*
** traceinfo.c - facts of a trace, from its record and its session's counts. On
** the thread that runs the state while the trace is active; afterwards on the
** one that has the Trace. Changes nothing.
*/
#include <string.h>

#include "session/traceinfo.h"

tg_Pos tg_traceinfo_stop_pos (const tg_Trace *t) {
  return (t->end == TG_END_NOT) ? tg_writer_pos(&t->session->writer)
                                : t->stop;
}

/* A selection is copied by the reader, so it can go at once. */
tg_Reader *tg_traceinfo_reader (const tg_Trace *t) {
  tg_Selection d = {0};
  tg_Reader *r = NULL;
  if (tg_selection_add(&d, &t->options))
    r = tg_reader_new(t->stream, t->start, &d);
  tg_selection_clear(&d);
  return r;
}

/* A frame has the epoch in which it was pushed, and a trace begins a new one:
   so a smaller number is older, whatever coroutine it is in. */
uint32_t tg_traceinfo_older_frames (const tg_Session *s, const tg_Trace *t) {
  uint32_t n = 0;
  for (const tg_Coroutine *h = s->current; h != NULL; h = h->resumer) {
    for (uint32_t i = 0; i < h->n; i++)
      n += h->frames[i].epoch < t->epoch_start
           && !(h->frames[i].what & TG_FR_HIDDEN);
  }
  return n;
}

/* Packets that 't' would have had since it ended: not the exits of frames that
   it never saw entered. The session counts packets of all traces together, so
   this is what they would have had of one that asks for as much as all. */
static uint64_t missed (const tg_Session *s, const tg_Trace *t) {
  tg_assert(t->session == s && t->end != TG_END_NOT);
  uint64_t packets = s->writer.packets - t->packets_end;
  uint32_t now = tg_traceinfo_older_frames(s, t);
  uint64_t exits = (now < t->older_end) ? t->older_end - now : 0;
  return (packets > exits) ? packets - exits : 0;
}

/* Of a trace that is not active all is in 'lost' (tg_tracelimits_close). */
void tg_traceinfo_losses (const tg_Trace *t, uint64_t lost[TG_NLOSSES]) {
  memcpy(lost, t->lost, sizeof t->lost);
  if (t->session == NULL)
    return;
  const tg_Session *s = t->session;
  for (tg_Lack i = 0; i < TG_NLACKS; i++)
    lost[tg_endreason_lack(i)] += tg_lacks_since(&s->writer.stream->lacks,
                                                 &t->before, i);
  if (t->end == TG_END_OVERFLOW)
    lost[TG_LOSS_OVERFLOW] += missed(s, t);
  else if (t->end == TG_END_MEMORY)
    lost[TG_LOSS_MEMORY] += missed(s, t);
  else if (t->end == TG_END_DISK)
    lost[TG_LOSS_DISK] += missed(s, t);
}
