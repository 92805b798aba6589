/*
** samples.c - see samples.h. Used by chrome.c only, if the user has
** asked for samples. Without memory 'failed' is set, and the profile's status.
**
** The events are those by which V8 itself streams a profile: a "Profile" that
** begins it, then a "ProfileChunk" for each so many samples, which has the new
** nodes of the call tree and how many microseconds lie between two samples.
** DevTools puts them together by "id", and shows them where a track has an
** event around them.
*/
#include "formats/chrome/samples.h"

#include <string.h>

#include "export/ticks.h"

/* Samples in one event: a few hundred KB of text at most, as it is held until
   it is full. */
#define CHUNK 10000u

#define LAST_PLACE 100000u      /* among tracks: behind those of coroutines */

bool tg_chromesamples_init (tg_ChromeSamples *s, tg_ChromeEvents *events) {
  memset(s, 0, sizeof *s);
  s->events = events;
  return tg_v8profile_init(&s->v8, events->x, tg_ticks_any(events->x));
}

void tg_chromesamples_free (tg_ChromeSamples *s) {
  tg_v8profile_free(&s->v8);
  tg_buf_free(&s->samples);
  tg_buf_free(&s->deltas);
  tg_buf_free(&s->lines);
}

/* The nodes that are new since the last chunk. */
static void put_nodes (tg_ChromeSamples *s) {
  tg_Buf *out = s->events->out;
  const tg_CallTree *t = &s->v8.profile.tree;
  tg_buf_addstr(out, "\"nodes\":[");
  for (uint32_t i = s->nnodes; i < t->count; i++) {
    tg_assert(i == 0 || t->nodes[i].parent < i);
    tg_buf_addstr(out, i > s->nnodes ? ",{\"id\":" : "{\"id\":");
    tg_buf_addu64(out, TG_V8_ID(i));
    if (i > 0) {
      tg_buf_addstr(out, ",\"parent\":");
      tg_buf_addu64(out, TG_V8_ID(t->nodes[i].parent));
    }
    tg_buf_addchar(out, ',');
    tg_v8profile_put_frame(&s->v8, i, out);
    tg_buf_addchar(out, '}');
  }
  tg_buf_addstr(out, "],");
  s->nnodes = t->count;
}

#define PROFILER ",\"id\":\"0x1\"," \
  "\"cat\":\"disabled-by-default-v8.cpu_profiler\",\"args\":{\"data\":{"

/* An event's time is that of its last sample. Nodes before samples: DevTools
   reads a chunk in one go, and a sample names a node that it must know. */
static void put_chunk (tg_ChromeSamples *s) {
  tg_ChromeEvents *e = s->events;
  if (s->nsamples == 0)
    return;
  tg_chromeevents_begin(e, "P", TG_CHROME_SAMPLES);
  tg_chromeevents_time(e, ",\"ts\":", TG_CHROME_START_NS + s->at_us * 1000);
  tg_buf_addstr(e->out, ",\"name\":\"ProfileChunk\"" PROFILER
                        "\"cpuProfile\":{");
  put_nodes(s);
  tg_buf_addstr(e->out, "\"samples\":[");
  tg_buf_add(e->out, s->samples.data, s->samples.size);
  tg_buf_addstr(e->out, "]},\"timeDeltas\":[");
  tg_buf_add(e->out, s->deltas.data, s->deltas.size);
  if (s->v8.ticks) {
    tg_buf_addstr(e->out, "],\"lines\":[");
    tg_buf_add(e->out, s->lines.data, s->lines.size);
  }
  tg_buf_addstr(e->out, "]}}}");
  s->failed = s->failed || s->samples.failed || s->deltas.failed
              || s->lines.failed;
  tg_buf_clear(&s->samples);
  tg_buf_clear(&s->deltas);
  tg_buf_clear(&s->lines);
  s->nsamples = 0;
}

/* Deltas are of whole microseconds, and of the times as they are written: so
   what is rounded off never adds up. */
static void write_sample (tg_ChromeSamples *s, const tg_V8Sample *sample) {
  uint64_t us = (sample->at_ns - s->events->x->start_ns) / 1000;
  tg_assert(us >= s->at_us);
  if (s->nsamples++ > 0) {
    tg_buf_addchar(&s->samples, ',');
    tg_buf_addchar(&s->deltas, ',');
    tg_buf_addchar(&s->lines, ',');
  }
  tg_buf_addu64(&s->samples, TG_V8_ID(sample->node));
  tg_buf_addu64(&s->deltas, us - s->at_us);
  tg_buf_addu64(&s->lines, sample->line);
  s->at_us = us;
  if (s->nsamples == CHUNK)
    put_chunk(s);
}

/* Of the samples of one microsecond the last one stays: its stack is what the
   next microsecond begins with. */
static void put_sample (tg_ChromeSamples *s, const tg_V8Sample *sample) {
  uint64_t start_ns = s->events->x->start_ns;
  tg_assert(sample->at_ns >= s->held.at_ns);
  if ((sample->at_ns - start_ns) / 1000 > (s->held.at_ns - start_ns) / 1000)
    write_sample(s, &s->held);
  s->held = *sample;
}

/* When the first packet has been read, with which the start is final. The first
   sample is the root: nothing runs yet. */
void tg_chromesamples_begin (tg_ChromeSamples *s) {
  tg_ChromeEvents *e = s->events;
  char text[] = "main (samples)";
  const tg_Buf name = {.data = text, .size = sizeof text - 1};
  tg_chromeevents_name(e, "thread_name", TG_CHROME_SAMPLES, &name);
  tg_chromeevents_sort(e, TG_CHROME_SAMPLES, LAST_PLACE);
  tg_chromeevents_begin(e, "P", TG_CHROME_SAMPLES);
  tg_chromeevents_time(e, ",\"ts\":", TG_CHROME_START_NS);
  tg_buf_addstr(e->out, ",\"name\":\"Profile\"" PROFILER);
  tg_chromeevents_time(e, "\"startTime\":", TG_CHROME_START_NS);
  tg_buf_addstr(e->out, "}}}");
  tg_v8profile_start(&s->v8, e->x->start_ns);
  s->held = (tg_V8Sample){.at_ns = e->x->start_ns};
}

/* With each packet, after its event was written. */
void tg_chromesamples_add (tg_ChromeSamples *s, const tg_Packet *p) {
  tg_V8Sample samples[2];
  uint32_t n = tg_v8profile_add(&s->v8, p, samples);
  for (uint32_t i = 0; i < n; i++)
    put_sample(s, &samples[i]);
}

/* DevTools looks at samples only where an event is around them that begins with
   "v8", or is one of a browser's: the last event is one as long as the
   trace. */
void tg_chromesamples_end (tg_ChromeSamples *s) {
  tg_ChromeEvents *e = s->events;
  const tg_Export *x = e->x;
  tg_V8Sample last[2];
  tg_v8profile_end(&s->v8, x->start_ns, x->end_ns, last);
  put_sample(s, &last[0]);
  put_sample(s, &last[1]);
  write_sample(s, &s->held);
  put_chunk(s);
  s->failed = s->failed || s->v8.profile.status != TG_OK;
  tg_chromeevents_begin(e, "X", TG_CHROME_SAMPLES);
  tg_chromeevents_time(e, ",\"ts\":", TG_CHROME_START_NS);
  tg_chromeevents_time(e, ",\"dur\":", x->end_ns - x->start_ns);
  tg_buf_addstr(e->out, ",\"name\":\"v8 samples\",\"cat\":\"Lua\","
                        "\"args\":{\"data\":{}}}");
}
