/*
** export_firefox.c - the processed format of the Firefox Profiler, version 66:
** old enough for every copy of the viewer, new enough for sources.
**
** A sample is written for each span of a track (tracks.h), weighted with its
** length, so the viewer's sums are exact and each call is a box: between two
** calls of one function there is a sample of their caller, if only of length 0.
** The document wants columns, and what is shared by the threads before them; so
** all packets are read before the first byte is written.
*/
#include <errno.h>
#include <string.h>

#include "bytes.h"
#include "formats.h"
#include "preview.h"
#include "viewer.h"

#define VALUES_MAX (UINT64_C(128) << 20)    /* bytes of arguments, of all */

enum {                    /* tags of spans, beside places of entries */
  TAG_EMPTY = TG_TAG_NONE - 1,      /* a call without arguments */
  TAG_MISSING = TG_TAG_NONE - 2     /* their room was used up */
};

/* A span, put aside. */
typedef struct Sample {
  uint64_t ns, weight_ns;
  uint32_t stack, tag;
} Sample;

typedef struct Firefox {
  tg_Export *x;
  tg_Buf *out;            /* borrows: the document's text */
  tg_Tracks tracks;
  tg_Callstacks stacks;
  tg_Preview preview;
  tg_Intern strings;      /* the document's */
  tg_Intern urls;         /* of sources */
  uint64_t value_bytes;
  bool ok;                /* writing goes on */
} Firefox;

/*
** {==================================================================
** Packets
** ===================================================================
*/

static void put_sample (tg_Tracks *t, tg_Track *track, uint64_t from_ns,
                        uint64_t to_ns, uint32_t stack) {
  Sample s = {
    .ns = from_ns, .stack = stack, .tag = track->tag,
    .weight_ns = stack != TG_STACK_NONE ? to_ns - from_ns : 0
  };
  tg_buf_add(&track->samples.text, &s, sizeof s);
  track->samples.values++;
  tg_column_turn(&t->spool, &track->samples);
}

static void begin_values (tg_Track *track) {
  static const char version[4] = {TG_PREVIEW_VERSION, 0, 0, 0};
  tg_buf_add(&track->values.text, version, sizeof version);
  track->values.values = sizeof version;
}

static uint32_t put_arguments (tg_Tracks *t, tg_Track *track,
                               const tg_Packet *p) {
  Firefox *w = t->writer;
  tg_ValueCursor c;
  if (p->values.data == NULL)
    return TG_TAG_NONE;
  if (track->values.values == 0)
    begin_values(track);
  tg_values_open(&c, p->values);
  if (tg_values_var(&c) == 0)
    return TAG_EMPTY;
  if (w->value_bytes > VALUES_MAX)
    return TAG_MISSING;
  uint32_t place = (uint32_t)track->values.values + TG_PREVIEW_HEAD;
  size_t before = track->values.text.size;
  w->preview.shapes = &track->shapes;
  tg_preview_arguments(&w->preview, &track->values.text, p);
  track->values.values += track->values.text.size - before;
  w->value_bytes += track->values.text.size - before;
  tg_column_turn(&t->spool, &track->values);
  return place;
}

/* }================================================================== */

/*
** {==================================================================
** Writing
** ===================================================================
*/

static void put (Firefox *w, const char *s) {
  tg_buf_addstr(w->out, s);
}

static bool turn (Firefox *w) {
  if (w->ok && !tg_output_turn(w->x->out))
    w->ok = false;
  return w->ok;
}

/* A comma, before all but the first of a list. */
static void next (Firefox *w, uint64_t i) {
  if (i > 0)
    tg_buf_addchar(w->out, ',');
  if ((i & 1023) == 1023)
    turn(w);
}

static void put_ms (Firefox *w, uint64_t ns) {
  tg_export_time(w->out, ns, 1000000);
}

static void put_string (Firefox *w, const char *s) {
  tg_export_string(w->out, s, strlen(s));
}

/* A column of 'n' times the same. */
static void put_same (Firefox *w, const char *key, const char *value,
                      uint64_t n) {
  tg_buf_addfmt(w->out, ",\"%s\":[", key);
  for (uint64_t i = 0; i < n; i++) {
    next(w, i);
    put(w, value);
  }
  put(w, "]");
}

/* Begins a column; 'first' of its table. */
static void begin_column (Firefox *w, const char *key, bool first) {
  tg_buf_addfmt(w->out, "%s\"%s\":[", first ? "" : ",", key);
}

/* The number of a string of the document. */
static uint32_t string_of (Firefox *w, const char *s, size_t size) {
  uint32_t i = tg_intern_add(&w->strings, s, size);
  if (i == TG_INDEX_NONE)
    w->ok = false;
  return i;
}

static uint32_t word_of (Firefox *w, const char *s) {
  return string_of(w, s, strlen(s));
}

static uint32_t name_of (Firefox *w, uint32_t func) {
  tg_Buf name = {0};
  tg_viewer_name(&w->tracks, &w->stacks.funcs[func], &name);
  uint32_t i = string_of(w, name.data, name.size);
  tg_buf_free(&name);
  return i;
}

static const tg_Function *function_of (const Firefox *w, uint32_t func) {
  return tg_functions_find(w->x->stream->functions,
                           w->stacks.funcs[func].function);
}

/* The source of a func; TG_INDEX_NONE if it has none. */
static uint32_t source_of (Firefox *w, uint32_t func) {
  const tg_Function *f = function_of(w, func);
  if (f == NULL || f->is_c || f->url == NULL || w->stacks.funcs[func].away)
    return TG_INDEX_NONE;
  uint32_t i = tg_intern_add(&w->urls, f->url, strlen(f->url));
  if (i == TG_INDEX_NONE)
    w->ok = false;
  return i;
}

static void put_index (Firefox *w, uint32_t i) {
  if (i == TG_INDEX_NONE)
    put(w, "null");
  else
    tg_buf_addu64(w->out, i);
}

/* }================================================================== */

/*
** {==================================================================
** meta
** ===================================================================
*/

static void put_list_of_threads (Firefox *w) {
  const uint32_t most = 30;
  put(w, ",\"initialVisibleThreads\":[");
  for (uint32_t i = 0; i < w->tracks.count && i < most; i++) {
    next(w, i);
    tg_buf_addu64(w->out, i);
  }
  put(w, "],\"initialSelectedThreads\":[0]");
}

/* The end is exclusive: a moment after the last sample. */
static void put_times (Firefox *w) {
  const tg_Export *x = w->x;
  uint64_t end = x->end_ns;
  for (uint32_t i = 0; i < w->tracks.count; i++) {
    if (end < w->tracks.list[i]->to_ns)
      end = w->tracks.list[i]->to_ns;
  }
  put(w, ",\"startTime\":");
  put_ms(w, x->wall_ns);
  put(w, ",\"profilingStartTime\":");
  put_ms(w, x->start_ns);
  put(w, ",\"profilingEndTime\":");
  put_ms(w, end + 1000);
}

static void put_meta (Firefox *w) {
  put(w, "{\"meta\":{\"interval\":1,\"processType\":0,\"stackwalk\":0,"
      "\"version\":36,\"preprocessedProfileVersion\":66,"
      "\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
      "\"sourceCodeIsNotOnSearchfox\":true,\"keepProfileThreadOrder\":true,"
      "\"importedFrom\":\"tracegrip " TG_VERSION "\",\"product\":");
  put_string(w, tg_viewer_program(w->x));
  put_times(w);
  put_list_of_threads(w);
  put(w, ",\"categories\":");
  tg_viewer_categories(w->out);
  put(w, ",\"markerSchema\":");
  tg_viewer_schemas(w->out, "fields");
  put(w, ",\"extra\":");
  tg_viewer_extra(&w->tracks, w->out);
  put(w, "},\"libs\":[],");
}

/* }================================================================== */

/*
** {==================================================================
** Shared tables
** ===================================================================
*/

static void put_stacks (Firefox *w) {
  const tg_Callstacks *c = &w->stacks;
  put(w, "\"stackTable\":{");
  begin_column(w, "frame", true);
  for (uint32_t i = 0; i < c->nstacks; i++) {
    next(w, i);
    tg_buf_addu64(w->out, c->stacks[i].frame);
  }
  put(w, "]");
  begin_column(w, "prefixOffset", false);
  for (uint32_t i = 0; i < c->nstacks; i++) {
    uint32_t prefix = c->stacks[i].prefix;
    next(w, i);
    tg_buf_addu64(w->out, prefix == TG_STACK_NONE ? 0 : i - prefix);
  }
  tg_buf_addfmt(w->out, "],\"length\":%u},", (unsigned)c->nstacks);
}

static void put_frames (Firefox *w) {
  const tg_Callstacks *c = &w->stacks;
  tg_buf_addfmt(w->out, "\"frameTable\":{\"length\":%u",
                (unsigned)c->nframes);
  put_same(w, "address", "-1", c->nframes);
  put_same(w, "inlineDepth", "0", c->nframes);
  put_same(w, "subcategory", "0", c->nframes);
  put_same(w, "nativeSymbol", "null", c->nframes);
  put_same(w, "innerWindowID", "0", c->nframes);
  put_same(w, "column", "null", c->nframes);
  put_same(w, "originalLocation", "null", c->nframes);
  begin_column(w, "category", false);
  for (uint32_t i = 0; i < c->nframes; i++) {
    uint32_t func = c->frames[i].func;
    next(w, i);
    tg_buf_addu64(w->out, tg_viewer_category(function_of(w, func),
                                             c->funcs[func].away));
  }
  put(w, "]");
  begin_column(w, "func", false);
  for (uint32_t i = 0; i < c->nframes; i++) {
    next(w, i);
    tg_buf_addu64(w->out, c->frames[i].func);
  }
  put(w, "]");
  begin_column(w, "line", false);
  for (uint32_t i = 0; i < c->nframes; i++) {
    next(w, i);
    put_index(w, c->frames[i].line > 0 ? c->frames[i].line : TG_INDEX_NONE);
  }
  put(w, "]},");
}

/* Where a func is defined; a main chunk at line 1. */
static uint32_t line_of (Firefox *w, uint32_t func) {
  const tg_Function *f = function_of(w, func);
  if (source_of(w, func) == TG_INDEX_NONE)
    return TG_INDEX_NONE;
  return f->line > 0 ? f->line : 1;
}

static void put_funcs (Firefox *w) {
  uint32_t n = w->stacks.nfuncs;
  tg_buf_addfmt(w->out, "\"funcTable\":{\"length\":%u", (unsigned)n);
  put_same(w, "relevantForJS", "false", n);
  put_same(w, "resource", "-1", n);
  put_same(w, "columnNumber", "null", n);
  put_same(w, "originalLocation", "null", n);
  begin_column(w, "name", false);
  for (uint32_t i = 0; i < n; i++) {
    next(w, i);
    put_index(w, name_of(w, i));
  }
  put(w, "]");
  begin_column(w, "isJS", false);
  for (uint32_t i = 0; i < n; i++) {
    next(w, i);
    put(w, source_of(w, i) != TG_INDEX_NONE ? "true" : "false");
  }
  put(w, "]");
  begin_column(w, "source", false);
  for (uint32_t i = 0; i < n; i++) {
    next(w, i);
    put_index(w, source_of(w, i));
  }
  put(w, "]");
  begin_column(w, "lineNumber", false);
  for (uint32_t i = 0; i < n; i++) {
    next(w, i);
    put_index(w, line_of(w, i));
  }
  put(w, "]},");
}

/* The text of a source, null if it cannot be had. */
static void put_content (Firefox *w, const char *url, size_t size) {
  tg_Buf text = {0}, name = {0};
  tg_buf_add(&name, url, size);
  tg_buf_addchar(&name, '\0');
  if (!name.failed && w->x->options.sources && w->x->source != NULL
      && w->x->source(w->x->source_ud, name.data, &text))
    tg_export_string(w->out, text.data, text.size);
  else
    put(w, "null");
  tg_buf_free(&text);
  tg_buf_free(&name);
  turn(w);
}

static void put_sources (Firefox *w) {
  uint32_t n = w->urls.count;
  tg_buf_addfmt(w->out, "\"sources\":{\"length\":%u", (unsigned)n);
  put_same(w, "id", "null", n);
  put_same(w, "startLine", "1", n);
  put_same(w, "startColumn", "1", n);
  put_same(w, "sourceMapURL", "null", n);
  begin_column(w, "filename", false);
  for (uint32_t i = 0; i < n; i++) {
    size_t size;
    const char *url = tg_intern_get(&w->urls, i, &size);
    next(w, i);
    put_index(w, string_of(w, url, size));
  }
  put(w, "]");
  begin_column(w, "content", false);
  for (uint32_t i = 0; i < n; i++) {
    size_t size;
    const char *url = tg_intern_get(&w->urls, i, &size);
    next(w, i);
    put_content(w, url, size);
  }
  put(w, "]},");
}

/* Last: the tables before it have brought in what they need. */
static void put_strings (Firefox *w) {
  word_of(w, TG_VIEWER_CALL);
  word_of(w, TG_VIEWER_NOTE);
  begin_column(w, "stringArray", true);
  for (uint32_t i = 0; i < w->strings.count; i++) {
    size_t size;
    const char *s = tg_intern_get(&w->strings, i, &size);
    next(w, i);
    tg_export_string(w->out, s, size);
  }
  put(w, "]");
}

static void put_shared (Firefox *w) {
  put(w, "\"shared\":{");
  put_stacks(w);
  put_frames(w);
  put_funcs(w);
  put_sources(w);
  put(w, "\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],"
      "\"host\":[],\"type\":[]},\"nativeSymbols\":{\"length\":0,"
      "\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]},"
      "\"sourceLocationTable\":{\"length\":0,\"source\":[],\"line\":[],"
      "\"column\":[]},");
  put_strings(w);
  put(w, "},");
}

/* }================================================================== */

/*
** {==================================================================
** Samples
** ===================================================================
*/

typedef void put_field (Firefox *w, const Sample *s);

static void put_stack (Firefox *w, const Sample *s) {
  put_index(w, s->stack);
}

static void put_time (Firefox *w, const Sample *s) {
  put_ms(w, s->ns);
}

static void put_weight (Firefox *w, const Sample *s) {
  put_ms(w, s->weight_ns);
}

static void put_tag (Firefox *w, const Sample *s) {
  if (s->tag == TAG_EMPTY)
    put(w, "-2");
  else if (s->tag == TAG_MISSING)
    put(w, "-1");
  else
    put_index(w, s->tag);
}

static void put_samples_of (Firefox *w, const tg_Track *track,
                            const char *key, put_field *field) {
  tg_Buf piece = {0};
  uint64_t n = 0;
  begin_column(w, key, false);
  for (uint32_t i = 0; w->ok && i <= track->samples.count; i++) {
    w->ok = tg_column_read(&w->tracks.spool, &track->samples, i, &piece);
    for (size_t at = 0; w->ok && at < piece.size; at += sizeof(Sample)) {
      Sample s;
      memcpy(&s, piece.data + at, sizeof s);
      next(w, n++);
      field(w, &s);
    }
  }
  put(w, "]");
  tg_buf_free(&piece);
}

static void put_samples (Firefox *w, const tg_Track *track) {
  put(w, "\"samples\":{\"weightType\":\"tracing-ms\"");
  put_samples_of(w, track, "stack", put_stack);
  put_samples_of(w, track, "time", put_time);
  put_samples_of(w, track, "weight", put_weight);
  if (track->values.values > 0)
    put_samples_of(w, track, "argumentValues", put_tag);
  put(w, ",\"length\":");
  tg_buf_addu64(w->out, track->samples.values);
  put(w, "}");
}

/* }================================================================== */

/*
** {==================================================================
** Arguments
** ===================================================================
*/

static void put_triple (tg_Buf *out, const uint8_t *p) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char four[4] = {
    digits[p[0] >> 2], digits[(p[0] & 3) << 4 | p[1] >> 4],
    digits[(p[1] & 15) << 2 | p[2] >> 6], digits[p[2] & 63]
  };
  tg_buf_add(out, four, sizeof four);
}

/* So many bytes as make whole triples; the rest is moved to the beginning. */
static void put_triples (Firefox *w, tg_Buf *bytes) {
  const uint8_t *p = (const uint8_t *)bytes->data;
  size_t at = 0;
  for (; bytes->size - at >= 3; at += 3)
    put_triple(w->out, p + at);
  if (at > 0)
    memmove(bytes->data, bytes->data + at, bytes->size - at);
  bytes->size -= at;
  turn(w);
}

static void put_last_triple (Firefox *w, const tg_Buf *rest) {
  uint8_t last[3] = {0};
  if (rest->size == 0)
    return;
  memcpy(last, rest->data, rest->size);
  put_triple(w->out, last);
  if (w->out->failed)
    return;
  memset(w->out->data + w->out->size - (3 - rest->size), '=',
         3 - rest->size);
}

/* In base64. */
static void put_values (Firefox *w, const tg_Track *track) {
  tg_Buf bytes = {0}, piece = {0};
  put(w, ",\"tracedValuesBuffer\":\"");
  for (uint32_t i = 0; w->ok && i <= track->values.count; i++) {
    w->ok = tg_column_read(&w->tracks.spool, &track->values, i, &piece);
    tg_buf_add(&bytes, piece.data, piece.size);
    put_triples(w, &bytes);
  }
  put_last_triple(w, &bytes);
  put(w, "\",\"tracedObjectShapes\":[");
  for (uint32_t i = 0; i < track->shapes.count; i++) {
    size_t size;
    const char *shape = tg_intern_get(&track->shapes, i, &size);
    next(w, i);
    tg_buf_add(w->out, shape, size);
  }
  put(w, "]");
  tg_buf_free(&bytes);
  tg_buf_free(&piece);
}

/* }================================================================== */

/*
** {==================================================================
** Markers
** ===================================================================
*/

/* A column being written. */
typedef struct Marks {
  Firefox *w;
  uint64_t n;
} Marks;

static Firefox *next_mark (Marks *k) {
  next(k->w, k->n++);
  return k->w;
}

static bool is_note (const tg_Mark *m) {
  return m->func == TG_STACK_NONE;
}

static bool put_mark_data (void *ud, const tg_Mark *m, const char *text) {
  Firefox *w = next_mark(ud);
  put(w, "{\"type\":\"");
  if (is_note(m))
    put(w, TG_VIEWER_NOTE_TYPE "\"");
  else {
    put(w, TG_VIEWER_CALL_TYPE "\",\"fn\":");
    put_index(w, name_of(w, m->func));
  }
  tg_buf_add(w->out, text, m->size);
  put(w, "}");
  return w->ok;
}

static bool put_mark_name (void *ud, const tg_Mark *m, const char *text) {
  Firefox *w = next_mark(ud);
  (void)text;
  put_index(w, word_of(w, is_note(m) ? TG_VIEWER_NOTE : TG_VIEWER_CALL));
  return w->ok;
}

static bool put_mark_start (void *ud, const tg_Mark *m, const char *text) {
  Firefox *w = next_mark(ud);
  (void)text;
  put_ms(w, m->from_ns);
  return w->ok;
}

static bool put_mark_end (void *ud, const tg_Mark *m, const char *text) {
  Firefox *w = next_mark(ud);
  (void)text;
  put_ms(w, m->to_ns);
  return w->ok;
}

static bool put_mark_phase (void *ud, const tg_Mark *m, const char *text) {
  const char *interval = "1";
  (void)m;
  (void)text;
  put(next_mark(ud), interval);
  return true;
}

static bool put_mark_category (void *ud, const tg_Mark *m, const char *text) {
  Firefox *w = next_mark(ud);
  (void)text;
  tg_buf_addu64(w->out, is_note(m) ? 0
                        : tg_viewer_category(function_of(w, m->func), false));
  return w->ok;
}

static uint64_t put_marks_of (Firefox *w, const tg_Track *track,
                              const char *key, tg_MarkUse *field) {
  Marks k = {.w = w};
  begin_column(w, key, false);
  if (w->ok && !tg_viewer_marks(&w->tracks, track, field, &k))
    w->ok = false;
  put(w, "]");
  return k.n;
}

static void put_marks (Firefox *w, const tg_Track *track) {
  put(w, ",\"markers\":{");
  put(w, "\"data\":[");
  Marks k = {.w = w};
  if (w->ok && !tg_viewer_marks(&w->tracks, track, put_mark_data, &k))
    w->ok = false;
  put(w, "]");
  put_marks_of(w, track, "name", put_mark_name);
  put_marks_of(w, track, "startTime", put_mark_start);
  put_marks_of(w, track, "endTime", put_mark_end);
  put_marks_of(w, track, "phase", put_mark_phase);
  put_marks_of(w, track, "category", put_mark_category);
  put(w, ",\"length\":");
  tg_buf_addu64(w->out, k.n);
  put(w, "}");
}

/* }================================================================== */

static void put_thread (Firefox *w, uint32_t i) {
  const tg_Track *track = w->tracks.list[i];
  tg_Buf name = {0};
  tg_tracks_name(&w->tracks, track, &name);
  put(w, "{\"name\":");
  tg_export_string(w->out, name.data, name.size);
  tg_buf_free(&name);
  tg_buf_addfmt(w->out, ",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,"
                "\"processName\":", i == 0 ? "true" : "false",
                (unsigned)w->x->pid, (unsigned)track->thread);
  put_string(w, tg_viewer_program(w->x));
  put(w, ",\"processType\":\"default\",\"processStartupTime\":");
  put_ms(w, w->x->start_ns);
  put(w, ",\"processShutdownTime\":null,\"pausedRanges\":[],"
      "\"showMarkersInTimeline\":true,\"registerTime\":");
  put_ms(w, i == 0 ? w->x->start_ns : track->from_ns);
  put(w, ",\"unregisterTime\":");
  if (i > 0 && track->ended && !track->shared)
    put_ms(w, track->to_ns);
  else
    put(w, "null");
  put(w, ",");
  put_samples(w, track);
  put_marks(w, track);
  if (track->values.values > 0)
    put_values(w, track);
  put(w, "}");
}

static void put_document (Firefox *w) {
  put_meta(w);
  put_shared(w);
  put(w, "\"threads\":[");
  for (uint32_t i = 0; i < w->tracks.count && turn(w); i++) {
    next(w, i);
    put_thread(w, i);
  }
  put(w, "]}\n");
}

/* Why it could not be written. */
static tg_Status status_of (Firefox *w) {
  if (w->ok && !w->out->failed)
    return TG_OK;
  int error = w->x->out->error != 0 ? w->x->out->error
                                    : w->tracks.spool.error;
  if (error == 0 || error == ENOMEM)
    return TG_ERR_MEMORY;
  errno = error;
  return TG_ERR_IO;
}

static tg_Status write_all (Firefox *w) {
  tg_Status status = tg_tracks_run(&w->tracks);
  if (status != TG_OK)
    return status;
  put_document(w);
  return status_of(w);
}

tg_Status tg_export_firefox (tg_Export *x) {
  Firefox w = {
    .x = x, .out = &x->out->text, .ok = true,
    .preview = {.functions = x->stream->functions, .demand = x->demand}
  };
  tg_tracks_init(&w.tracks, x, &w.stacks);
  w.tracks.span = put_sample;
  w.tracks.call = put_arguments;
  w.tracks.writer = &w;
  w.tracks.marked = true;
  tg_Status status = write_all(&w);
  int error = errno;
  tg_tracks_free(&w.tracks);
  tg_callstacks_free(&w.stacks);
  tg_preview_free(&w.preview);
  tg_intern_free(&w.strings);
  tg_intern_free(&w.urls);
  errno = error;
  return status;
}
