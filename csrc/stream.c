/*
** stream.c - a tracing state's life: made with its first trace, freed by the
** last trace, reader or session to let go of it.
*/
#include "stream.h"

#include "alloc.h"

tg_Stream *tg_stream_new (void) {
  tg_Stream *s = tg_calloc(1, sizeof *s);
  if (s == NULL)
    return NULL;
  s->functions = tg_functions_new();
  if (s->functions == NULL) {
    tg_free(s);
    return NULL;
  }
  atomic_init(&s->refs, 1);
  tg_store_init(&s->store);
  tg_clock_start(&s->clock);
  return s;
}

tg_Stream *tg_stream_pin (tg_Stream *s) {
  atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
  return s;
}

void tg_stream_unpin (tg_Stream *s) {
  if (s == NULL
      || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) > 1)
    return;
  tg_store_free(&s->store);
  tg_functions_free(s->functions);
  tg_free(s);
}
