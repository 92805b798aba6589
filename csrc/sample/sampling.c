/*
** sampling.c - see sampling.h.
*/
#include "sample/sampling.h"

bool tg_sampling_apart (const tg_Sampler *m) {
  return m->apart && m->session->hooked && m->watch == NULL;
}

void tg_sampling_write (tg_Sampler *m, tg_TickMoment now) {
  tg_TicksCome come = {
    .ticks = (uint32_t)m->ticks, .waits = atomic_exchange(&m->waits_seen, 0),
    .by_clock = m->watch != NULL, .apart = tg_sampling_apart(m),
    .untraced = tg_windowing_open(m->session) && m->windowing.samples > 0
  };
  m->ticks = 0;
  m->windowing.samples++;
  tg_samplewriter_put(&m->writer, now, come);
}
