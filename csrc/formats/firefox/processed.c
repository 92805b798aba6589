/*
** processed.c - the processed format of the Firefox Profiler, version 66:
** old enough for every copy of the viewer, new enough for sources.
**
** A sample is written for each span of a track (tracks.h), weighted with its
** length, so the viewer's sums are exact and each call is a box: between two
** calls of one function there is a sample of their caller, if only of length 0.
** Of a recording of samples alone they are those. Beside calls ticks say what
** samples weigh, and the spans are what they are (stackweights.h).
** The document wants columns, and what is shared by the threads before them; so
** all packets are read before the first byte is written.
**
** What fails while packets are read is the tracks' status; while writing, 'ok'
** of the document. errno is that of the output or of the spool.
*/
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "export/jsontext.h"
#include "export/ticks.h"
#include "formats/firefox/arguments.h"
#include "formats/firefox/document.h"
#include "formats/firefox/firefox.h"
#include "formats/firefox/meta.h"
#include "formats/firefox/nativeallocations.h"
#include "formats/firefox/samples.h"

#define VALUES_MAX (UINT64_C(128) << 20)    /* bytes of arguments, of all */

/*
** {==================================================================
** Packets
** ===================================================================
*/

/* Called for each span of a track that is over, even one of no length, which
   keeps two calls of one function apart. */
static void put_sample (tg_Tracks *t, tg_Track *track, uint64_t from_ns,
                        uint64_t to_ns, uint32_t stack) {
  tg_Sample s = {
    .ns = from_ns, .length_ns = to_ns - from_ns, .stack = stack,
    .whole = tg_tracks_whole(t, track, stack),
    .tag = track->tag
  };
  tg_samples_put(&t->spool, track, &s);
}

/* The buffer of a track's arguments begins with the version of their layout. */
static void begin_values (tg_Track *track) {
  static const char version[4] = {TG_TRACEDVALUES_VERSION, 0, 0, 0};
  tg_buf_add(&track->values.text, version, sizeof version);
  track->values.values = sizeof version;
}

/* The place of the arguments in the track's buffer, as a tag of the samples of
   this call. */
static uint32_t put_arguments (tg_Tracks *t, tg_Track *track,
                               const tg_Packet *p) {
  tg_Document *w = t->writer;
  tg_ValueCursor c;
  if (p->values.data == NULL)
    return TG_TAG_NONE;
  if (track->values.values == 0)
    begin_values(track);
  tg_values_open(&c, p->values);
  if (tg_values_var(&c) == 0)
    return TG_TAG_EMPTY;
  if (w->value_bytes > VALUES_MAX) {
    t->x->bare += track == t->list[0];    /* all calls are on that */
    t->x->idle = true;
    return TG_TAG_MISSING;
  }
  uint32_t place = (uint32_t)track->values.values + TG_TRACEDVALUES_HEAD;
  size_t at = track->values.text.size;
  w->preview.shapes = &track->shapes;
  if (!tg_arguments_add(t->x, &w->preview, p, &track->values.text))
    t->status = TG_ERR_MEMORY;
  size_t size = track->values.text.size - at;
  track->values.values += size;
  w->value_bytes += size;
  tg_column_turn(&t->spool, &track->values);
  return place;
}

static void put_allocations (tg_Tracks *t, tg_Track *track,
                             const tg_Packet *p, uint32_t stack) {
  tg_Allocations a = tg_event_allocations(p->values);
  tg_nativeallocations_put(&t->spool, &track->allocations, &a, p->time_ns,
                           stack);
}

/* }================================================================== */

/*
** {==================================================================
** The document
** ===================================================================
*/

static void put_string (tg_Document *w, const char *s) {
  tg_jsontext_string(w->out, s, strlen(s));
}

/* The viewer hides tracks that are quiet; of ours even those are wanted. */
static void put_list_of_threads (tg_Document *w) {
  const uint32_t most = 30;
  tg_document_put(w, ",\"initialVisibleThreads\":[");
  for (uint32_t i = 0; i < w->tracks.count && i < most; i++) {
    tg_document_next(w, i);
    tg_buf_addu64(w->out, i);
  }
  tg_document_put(w, "],\"initialSelectedThreads\":[0]");
}

/* The end is exclusive: a moment after the last sample. */
static void put_times (tg_Document *w) {
  const tg_Export *x = w->x;
  uint64_t end = x->end_ns;
  for (uint32_t i = 0; i < w->tracks.count; i++) {
    if (end < w->tracks.list[i]->to_ns)
      end = w->tracks.list[i]->to_ns;
  }
  tg_document_put(w, ",\"startTime\":");
  tg_document_ms(w, x->wall_ns);
  tg_document_put(w, ",\"profilingStartTime\":");
  tg_document_ms(w, x->start_ns);
  tg_document_put(w, ",\"profilingEndTime\":");
  tg_document_ms(w, end + 1000);
}

/* Milliseconds from one sample to the next: of what is exact the viewer takes
   any. */
static void put_interval (tg_Document *w) {
  uint64_t exact_ns = 1000000;
  tg_document_ms(w, tg_ticks_only(w->x) ? tg_ticks_period(w->x) : exact_ns);
}

/* The version of the format, which the viewer brings up to its own; and fields
   that have nothing to do with Lua: 'symbolicated', since names are names
   already, 'usesOnlyOneStackType', so that the viewer does not offer to hide
   native frames. */
static void put_meta (tg_Document *w) {
  tg_document_put(w, "{\"meta\":{\"interval\":");
  put_interval(w);
  tg_document_put(w, ",\"processType\":0,"
      "\"stackwalk\":0,\"version\":36,\"preprocessedProfileVersion\":66,"
      "\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
      "\"sourceCodeIsNotOnSearchfox\":true,\"keepProfileThreadOrder\":true,"
      "\"importedFrom\":\"tracegrip " TG_VERSION "\",\"product\":");
  put_string(w, tg_meta_program(w->x));
  put_times(w);
  put_list_of_threads(w);
  tg_document_put(w, ",\"categories\":");
  tg_meta_categories(w->out);
  tg_document_put(w, ",\"markerSchema\":");
  tg_meta_schemas(&w->tracks, w->out, "fields");
  tg_document_put(w, ",\"extra\":");
  tg_meta_extra(&w->tracks, w->out);
  tg_document_put(w, "},\"libs\":[],");
}

static void put_heap_time (tg_Document *w, const void *table, uint32_t i) {
  const tg_HeapCounter *h = table;
  tg_document_ms(w, h->list[i].ns);
}

static void put_heap_change (tg_Document *w, const void *table, uint32_t i) {
  tg_buf_addfmt(w->out, "%" PRId64, tg_heapcounter_change(table, i));
}

/* How the viewer draws the counter, which since version 63 it does not know by
   itself: without it there is no picture at all, not even of the calls. Its
   values are what the heap has grown by, added up from the first sample on;
   'accumulated' is that less the least one. */
static const char heap_display[] =
    ",\"display\":{\"graphType\":\"line-accumulated\",\"unit\":\"bytes\","
    "\"color\":\"orange\",\"markerSchemaLocation\":\"timeline-memory\","
    "\"sortWeight\":20,\"label\":\"" TG_HEAPCOUNTER_CATEGORY "\","
    "\"tooltipRows\":[{\"type\":\"value\",\"source\":\"accumulated\","
    "\"format\":{\"unit\":\"bytes\"},\"label\":"
    "\"Lua heap above its least size here\"},{\"type\":\"value\","
    "\"source\":\"count-range\",\"format\":{\"unit\":\"bytes\"},"
    "\"label\":\"Least to greatest size here\"}]}";

static void put_counters (tg_Document *w) {
  static const tg_DocumentColumn columns[] = {
    {"time", NULL, put_heap_time}, {"count", NULL, put_heap_change}, {0}
  };
  const tg_HeapCounter *h = &w->tracks.heap;
  if (h->count == 0)
    return;
  tg_document_put(w, ",\"counters\":[{\"name\":\"" TG_HEAPCOUNTER_NAME
                  "\",\"category\":\"" TG_HEAPCOUNTER_CATEGORY
                  "\",\"description\":\"" TG_HEAPCOUNTER_ABOUT "\","
                  "\"mainThreadIndex\":0,");
  tg_buf_addfmt(w->out, "\"pid\":\"%u\"", (unsigned)w->x->pid);
  tg_document_put(w, heap_display);
  tg_document_put(w, ",\"samples\":{");
  tg_document_columns(w, columns, h, h->count, true);
  tg_buf_addfmt(w->out, ",\"length\":%u}}]", (unsigned)h->count);
}

static void put_document (tg_Document *w) {
  put_meta(w);
  tg_document_shared(w);
  tg_document_put(w, "\"threads\":[");
  for (uint32_t i = 0; i < w->tracks.count && tg_document_turn(w); i++) {
    tg_document_next(w, i);
    tg_document_thread(w, i);
  }
  tg_document_put(w, "]");
  put_counters(w);
  tg_document_put(w, "}\n");
}

/* All packets first: what the threads share stands before them. */
static tg_Status write_all (tg_Document *w) {
  tg_Status status = tg_tracks_run(&w->tracks);
  if (status != TG_OK)
    return status;
  put_document(w);
  return tg_tracks_outcome(&w->tracks, w->ok && !w->out->failed);
}

tg_Status tg_format_firefox (tg_Export *x) {
  tg_Document w = {
    .x = x, .out = &x->out->text, .ok = true,
    .preview = {.functions = x->stream->functions, .selection = x->selection,
                .most = TG_TRACEDVALUES_SHAPES}
  };
  bool ready = tg_tracks_init(&w.tracks, x, &w.stacks);
  w.tracks.span = put_sample;
  w.tracks.call = put_arguments;
  w.tracks.allocate = put_allocations;
  w.tracks.writer = &w;
  w.tracks.marked = true;
  tg_Status status = ready ? write_all(&w) : TG_ERR_MEMORY;
  int error = errno;
  tg_tracks_free(&w.tracks);
  tg_stacktables_free(&w.stacks);
  tg_tracedvalues_free(&w.preview);
  tg_intern_free(&w.strings);
  tg_intern_free(&w.urls);
  tg_free(w.names);
  tg_free(w.places);
  errno = error;
  return status;
}

/* }================================================================== */
