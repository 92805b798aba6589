/*
** thread.c - a thread of a processed profile: samples, markers, the arguments
** of calls. One for each track.
**
** Called by processed.c when the shared tables are written: what is written
** here refers to their rows and adds none. What fails is in the document's
** 'ok'.
*/
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/jsontext.h"
#include "export/ticks.h"
#include "formats/firefox/document.h"
#include "formats/firefox/meta.h"
#include "formats/firefox/nativeallocations.h"
#include "formats/firefox/samples.h"
#include "packet/scalars.h"

#define GRAPH_STEPS 3000u     /* of the whole time: wider than most screens */

/*
** {==================================================================
** Samples
** ===================================================================
*/

static char *put_word (char *p, const char *word) {
  size_t size = strlen(word);
  memcpy(p, word, size);
  return p + size;
}

static char *put_stack (char *p, const tg_Sample *s, uint64_t weight_ns) {
  (void)weight_ns;
  return s->stack == TG_STACK_NONE ? put_word(p, "null")
                                   : tg_digits(p, s->stack);
}

static char *put_time (char *p, const tg_Sample *s, uint64_t weight_ns) {
  (void)weight_ns;
  return tg_digits_ms(p, s->ns);
}

/* Of time in no frame the weight is 0: it would count as the thread's own. */
static char *put_weight (char *p, const tg_Sample *s, uint64_t weight_ns) {
  return tg_digits_ms(p, s->stack == TG_STACK_NONE ? 0 : weight_ns);
}

static char *put_tag (char *p, const tg_Sample *s, uint64_t weight_ns) {
  (void)weight_ns;
  switch (s->tag) {
    case TG_TAG_NONE: return put_word(p, "null");
    case TG_TAG_EMPTY: return put_word(p, "-2");
    case TG_TAG_MISSING: return put_word(p, "-1");
    default: return tg_digits(p, s->tag);
  }
}

/* How long a span may be without a second sample at its end (samples.h). Ticks
   are alike, but for those that were late. */
static uint64_t long_of (const tg_Export *x) {
  const uint64_t late = 4;      /* periods */
  uint64_t step_ns = (x->end_ns - x->start_ns) / GRAPH_STEPS;
  if (!tg_ticks_only(x) || step_ns > late * tg_ticks_period(x))
    return step_ns;
  return late * tg_ticks_period(x);
}

static const struct {
  const char *key;
  tg_SampleField *put;
} sample_columns[] = {
  {"stack", put_stack}, {"time", put_time}, {"weight", put_weight},
  {"argumentValues", put_tag}       /* if there are arguments */
};

/* Samples are read back for each column: all of them at once in memory would
   be as long as the trace. */
static void put_samples (tg_Document *w, const tg_Track *track) {
  const tg_Export *x = w->x;
  size_t n = sizeof sample_columns / sizeof *sample_columns;
  uint64_t rows = 0;
  tg_assert(x->end_ns >= x->start_ns);
  if (track->values.values == 0)
    n--;
  tg_document_put(w, "\"samples\":{\"weightType\":\"tracing-ms\"");
  for (size_t i = 0; i < n; i++) {
    tg_buf_addfmt(w->out, ",\"%s\":", sample_columns[i].key);
    if (w->ok && !tg_samples_write(&w->tracks, track, long_of(x),
                                   sample_columns[i].put, &rows))
      w->ok = false;
  }
  tg_document_put(w, ",\"length\":");
  tg_buf_addu64(w->out, rows);
  tg_document_put(w, "}");
}

/* }================================================================== */

/*
** {==================================================================
** Arguments
** ===================================================================
*/

/* So many bytes as have no padding; the rest is moved to the beginning. Base64
   of pieces is that of the whole only if each is a multiple of three. */
static void put_triples (tg_Document *w, tg_Buf *bytes) {
  size_t size = bytes->size / 3 * 3;
  if (size == 0)
    return;
  tg_scalars_base64(w->out, bytes->data, size);
  memmove(bytes->data, bytes->data + size, bytes->size - size);
  bytes->size -= size;
  tg_document_turn(w);
}

/* The buffer of all arguments as base64, as Firefox gives it; samples refer to
   places in it. */
static void put_values (tg_Document *w, const tg_Track *track) {
  tg_Buf bytes = {0}, piece = {0};
  tg_document_put(w, ",\"tracedValuesBuffer\":\"");
  for (uint32_t i = 0; w->ok && i <= track->values.count; i++) {
    w->ok = tg_column_read(&w->tracks.spool, &track->values, i, &piece);
    tg_buf_add(&bytes, piece.data, piece.size);
    put_triples(w, &bytes);
  }
  tg_scalars_base64(w->out, bytes.data, bytes.size);
  tg_document_put(w, "\",\"tracedObjectShapes\":[");
  for (uint32_t i = 0; i < track->shapes.count; i++) {
    size_t size;
    const char *shape = tg_intern_get(&track->shapes, i, &size);
    tg_document_next(w, i);
    tg_buf_add(w->out, shape, size);
  }
  tg_document_put(w, "]");
  w->ok = w->ok && !bytes.failed && !piece.failed;
  tg_buf_free(&bytes);
  tg_buf_free(&piece);
}

/* }================================================================== */

/*
** {==================================================================
** Markers
** ===================================================================
*/

static void put_data (const void *ud, tg_Buf *out, const tg_Mark *m) {
  const tg_Document *w = ud;
  if (tg_note_is(m->func))
    tg_meta_note(out, m);
  else
    tg_meta_call(out, tg_document_function(w, m->func), m, w->names[m->func],
                 w->places[m->func]);
}

/* The markers of a track without their text, and what is the same for most. */
typedef struct Marks {
  const tg_MarkPlace *list;
  uint32_t call;          /* string: a call's name */
} Marks;

static void put_mark_name (tg_Document *w, const void *table, uint32_t i) {
  const Marks *k = table;
  uint32_t func = k->list[i].func;
  tg_document_index(w, tg_note_is(func)
                       ? tg_document_word(w, tg_meta_mark_name(func))
                       : k->call);
}

static void put_start (tg_Document *w, const void *table, uint32_t i) {
  const Marks *k = table;
  tg_meta_moment(w->out, (tg_Moment){k->list[i].from_ns,
                                     k->list[i].from_part});
}

static void put_end (tg_Document *w, const void *table, uint32_t i) {
  const Marks *k = table;
  tg_meta_moment(w->out, (tg_Moment){k->list[i].to_ns, k->list[i].to_part});
}

static void put_category (tg_Document *w, const void *table, uint32_t i) {
  const Marks *k = table;
  tg_buf_addu64(w->out, tg_meta_mark_category(k->list[i].func));
}

/* 1 is an interval, 0 a moment. */
static void put_phase (tg_Document *w, const void *table, uint32_t i) {
  const Marks *k = table;
  tg_buf_addu64(w->out, k->list[i].func != TG_NOTE_MOMENT);
}

/* All columns but "data". */
static const tg_DocumentColumn mark_columns[] = {
  {"name", NULL, put_mark_name}, {"startTime", NULL, put_start},
  {"endTime", NULL, put_end}, {"category", NULL, put_category},
  {"phase", NULL, put_phase}, {0}
};

/* Markers are read back once; what is long, their text, is written at once, and
   the few numbers of the other columns wait in 'list'. */
static void put_marks (tg_Document *w, tg_Track *track) {
  tg_Buf list = {0};
  Marks k = {.call = tg_document_word(w, TG_VIEWER_CALL)};
  tg_document_put(w, ",\"markers\":{\"data\":");
  if (w->ok && !tg_meta_marks(&w->tracks, track, put_data, w, &list))
    w->ok = false;
  uint32_t n = (uint32_t)(list.size / sizeof *k.list);
  k.list = (const tg_MarkPlace *)(const void *)list.data;
  tg_document_columns(w, mark_columns, &k, n, false);
  tg_buf_addfmt(w->out, ",\"length\":%u}", (unsigned)n);
  tg_buf_free(&list);
}

/* }================================================================== */

/* Whose thread it is. The viewer groups threads by their process, and opens on
   the main one. */
static void put_names (tg_Document *w, const tg_Track *track, bool main) {
  tg_Buf name = {0};
  tg_tracks_name(&w->tracks, track, &name);
  tg_document_put(w, "{\"name\":");
  tg_jsontext_string(w->out, name.data, name.size);
  w->ok = w->ok && !name.failed;
  tg_buf_free(&name);
  tg_buf_addfmt(w->out, ",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,"
                "\"processName\":", main ? "true" : "false",
                (unsigned)w->x->pid, (unsigned)track->thread);
  const char *program = tg_meta_program(w->x);
  tg_jsontext_string(w->out, program, strlen(program));
}

/* From when to when it is there: the first track as long as the document, a
   coroutine's as long as it lived, if that is known of it alone. */
static void put_times (tg_Document *w, const tg_Track *track, bool main) {
  tg_document_put(w, ",\"processType\":\"default\",\"processStartupTime\":");
  tg_document_ms(w, w->x->start_ns);
  tg_document_put(w, ",\"processShutdownTime\":null,\"pausedRanges\":[],"
      "\"showMarkersInTimeline\":true,\"registerTime\":");
  tg_document_ms(w, main ? w->x->start_ns : track->from_ns);
  tg_document_put(w, ",\"unregisterTime\":");
  if (!main && track->ended && !track->shared)
    tg_document_ms(w, track->to_ns);
  else
    tg_document_put(w, "null");
  tg_document_put(w, ",");
}

/* The tables that all threads share are written already: nothing here may add
   to them. */
void tg_document_thread (tg_Document *w, uint32_t i) {
  tg_Track *track = w->tracks.list[i];
  const uint32_t strings = w->strings.count, funcs = w->stacks.nfuncs;
  put_names(w, track, i == 0);
  put_times(w, track, i == 0);
  put_samples(w, track);
  tg_nativeallocations_write(w, &track->allocations);
  put_marks(w, track);
  if (track->values.values > 0)
    put_values(w, track);
  tg_document_put(w, "}");
  tg_assert(w->strings.count == strings && w->stacks.nfuncs == funcs);
  (void)strings;
  (void)funcs;
}
