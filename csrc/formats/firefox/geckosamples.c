/*
** geckosamples.c - see geckosamples.h. Called by tracks.c for each span that
** ends, and by gecko.c, which writes what is put aside here.
**
** Rows are text already when they are put aside: they are written once, as they
** are. Beside calls spans are put aside instead, and replaced by their rows.
** What fails is the spool's, or shows in the column's text.
*/
#include "formats/firefox/geckosamples.h"

#include <string.h>

#include "export/jsontext.h"
#include "export/ticks.h"
#include "formats/firefox/samples.h"

#define SAMPLES_MAX 500000u     /* about, in one track */
#define SAMPLES_ALL 8000000u    /* in all; a clock that leaps takes no more */
#define INTERVAL_MIN 1000u      /* nanoseconds */

/* 1, 2, 5, 10, ... microseconds: as few samples as a viewer bears. */
static uint64_t interval_of (const tg_Export *x) {
  static const uint32_t steps[] = {2, 5, 10};
  uint64_t span = x->end_ns > x->start_ns ? x->end_ns - x->start_ns : 0;
  uint64_t decade = INTERVAL_MIN, interval = INTERVAL_MIN;
  for (uint32_t i = 0; span / interval > SAMPLES_MAX; i++) {
    interval = decade * steps[i % 3];
    if (i % 3 == 2)
      decade *= 10;
  }
  return interval;
}

tg_GeckoSamples tg_geckosamples_of (const tg_Export *x) {
  bool ticks = tg_ticks_only(x);
  return (tg_GeckoSamples){
    .interval_ns = ticks ? tg_ticks_period(x) : interval_of(x), .ticks = ticks
  };
}

/* A row of the samples: a stack's number, when, and "eventDelay", which the
   viewer requires and which is a browser's. Rows go to the track's column: the
   document has tracks one after the other, packets have them mixed. */
static void put_sample (tg_Tracks *t, tg_Track *track, uint32_t stack) {
  tg_Buf *out = &track->samples.text;
  tg_buf_addstr(out, track->samples.values++ > 0 ? ",[" : "[");
  if (stack == TG_STACK_NONE)
    tg_buf_addstr(out, "null");
  else
    tg_buf_addu64(out, stack);
  tg_buf_addchar(out, ',');
  tg_jsontext_time(out, track->sample_ns, 1000000);
  tg_buf_addstr(out, ",0]");
  tg_column_turn(&t->spool, &track->samples);
}

/* Of a pause the first moment and the last one tell enough: a sample lasts
   until the next one, and the graph in the timeline draws half of the time
   between two as the later one. */
static void sample_pause (tg_Tracks *t, tg_Track *track, uint64_t to_ns) {
  const tg_GeckoSamples *w = t->writer;
  if (track->sample_ns >= to_ns)
    return;
  uint64_t last_ns = (to_ns - 1) / w->interval_ns * w->interval_ns;
  tg_assert(last_ns >= track->sample_ns);
  if (!track->idle)
    put_sample(t, track, TG_STACK_NONE);
  if (last_ns > track->sample_ns) {
    track->sample_ns = last_ns;
    put_sample(t, track, TG_STACK_NONE);
  }
  track->sample_ns += w->interval_ns;
  track->idle = true;
}

/* The span that a tick stands for, or one in which nothing ran: that has a
   sample at its end too, if it is long, as a pause has above. */
static void sample_ticks (tg_Tracks *t, tg_Track *track, uint64_t from_ns,
                          uint64_t to_ns, uint32_t stack) {
  tg_GeckoSamples *w = t->writer;
  uint64_t n = tg_ticks_count(t->x, to_ns - from_ns);
  track->idle = stack == TG_STACK_NONE;
  for (uint64_t i = 0; i < n && w->taken < SAMPLES_ALL; i++, w->taken++) {
    if (track->idle && i > 0)
      i = n - 1;
    track->sample_ns = from_ns + i * w->interval_ns;
    put_sample(t, track, stack);
  }
}

/* The moments of the interval that are in the span. */
static void sample_span (tg_Tracks *t, tg_Track *track, uint64_t from_ns,
                           uint64_t to_ns, uint32_t stack) {
  tg_GeckoSamples *w = t->writer;
  uint64_t step = w->interval_ns;
  tg_assert(step > 0 && from_ns <= to_ns);
  if (w->ticks) {
    sample_ticks(t, track, from_ns, to_ns, stack);
    return;
  }
  if (track->sample_ns < from_ns)
    track->sample_ns = (from_ns + step - 1) / step * step;
  if (stack == TG_STACK_NONE) {
    sample_pause(t, track, to_ns);
    return;
  }
  if (track->sample_ns < to_ns)
    track->idle = false;
  for (; track->sample_ns < to_ns && w->taken < SAMPLES_ALL; w->taken++) {
    put_sample(t, track, stack);
    track->sample_ns += step;
  }
}

void tg_geckosamples_span (tg_Tracks *t, tg_Track *track, uint64_t from_ns,
                           uint64_t to_ns, uint32_t stack) {
  if (!t->weights.on) {
    sample_span(t, track, from_ns, to_ns, stack);
    return;
  }
  tg_Sample s = {
    .ns = from_ns, .length_ns = to_ns - from_ns, .stack = stack,
    .whole = tg_tracks_whole(t, track, stack)
  };
  tg_samples_put(&t->spool, track, &s);
}

/* So much of the weight that is due is not sampled yet. */
static void weigh_span (tg_Tracks *t, tg_Track *track, const tg_Sample *s,
                        uint64_t *due_ns) {
  tg_GeckoSamples *w = t->writer;
  uint64_t weight = tg_stackweights_of(&t->weights, s->whole, s->length_ns);
  uint64_t n = (*due_ns + weight) / w->interval_ns;
  *due_ns = (*due_ns + weight) % w->interval_ns;
  track->idle = track->idle && n == 0;
  for (uint64_t i = 0; i < n && w->taken < SAMPLES_ALL; i++, w->taken++) {
    double part = (double)i / (double)n;
    track->sample_ns = s->ns + (uint64_t)(part * (double)s->length_ns);
    put_sample(t, track, s->stack);
  }
}

/* A pause has two samples, if it is as long as an interval. */
static void add_span (tg_Tracks *t, tg_Track *track, const tg_Sample *s,
                      uint64_t *due_ns) {
  const tg_GeckoSamples *w = t->writer;
  if (s->stack != TG_STACK_NONE)
    weigh_span(t, track, s, due_ns);
  else if (s->length_ns >= w->interval_ns) {
    track->sample_ns = s->ns;
    sample_pause(t, track, s->ns + s->length_ns);
  }
}

/* The spans of a track become its rows. */
static bool add_spans (tg_Tracks *t, tg_Track *track) {
  tg_Column spans = track->samples;
  tg_Buf piece = {0};
  tg_Sample s;
  uint64_t due_ns = 0, end_ns = 0;
  bool ok = true;
  track->samples = (tg_Column){0};
  for (uint32_t i = 0; ok && i <= spans.count; i++) {
    ok = tg_column_read(&t->spool, &spans, i, &piece);
    for (size_t at = 0; ok && at < piece.size; at += sizeof s) {
      memcpy(&s, piece.data + at, sizeof s);
      add_span(t, track, &s, &due_ns);
      end_ns = s.ns + s.length_ns;
    }
  }
  track->sample_ns = end_ns;
  tg_buf_free(&piece);
  tg_column_free(&spans);
  return ok;
}

/* Without a last sample the last stack would last to the end of the profile. */
bool tg_geckosamples_finish (tg_Tracks *t, tg_Track *track) {
  bool ok = !t->weights.on || add_spans(t, track);
  if (!track->idle)
    put_sample(t, track, TG_STACK_NONE);
  return ok;
}
