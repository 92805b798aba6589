/*
** gecko.c - the format in which Firefox itself gives its profiles, as
** the Firefox Profiler takes it too: version 36, or 5 for older tools.
**
** Its samples are taken at a fixed interval (geckosamples.h). The exact times
** are in the markers, one for each call, which version 5 cannot describe and
** does not have.
**
** A thread has tables of its own, and rows instead of columns.
**
** As in processed.c, what fails while packets are read is the tracks' status,
** and while writing it is in 'ok'.
*/
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "export/jsontext.h"
#include "formats/firefox/firefox.h"
#include "formats/firefox/geckosamples.h"
#include "formats/firefox/meta.h"

#define NSTRINGS 3u             /* of each func */

typedef struct Gecko {
  tg_Export *x;
  tg_Buf *out;            /* borrows: the document's text */
  tg_Tracks tracks;
  tg_GeckoSamples samples;
  bool old;               /* version 5 */
  bool ok;                /* writing goes on */
} Gecko;

/*
** {==================================================================
** Writing
** ===================================================================
*/

static void put (Gecko *w, const char *s) {
  tg_buf_addstr(w->out, s);
}

static bool turn (Gecko *w) {
  if (w->ok && !tg_outfile_turn(w->x->out))
    w->ok = false;
  return w->ok;
}

/* A comma, before all but the first; now and then what is written goes off, so
   that the text stays small. */
static void next (Gecko *w, uint64_t i) {
  if (i > 0)
    tg_buf_addchar(w->out, ',');
  if ((i & 1023) == 1023)
    turn(w);
}

static void put_number (Gecko *w, const char *before, uint64_t v) {
  put(w, before);
  tg_buf_addu64(w->out, v);
}

static void put_ms (Gecko *w, uint64_t ns) {
  tg_jsontext_time(w->out, ns, 1000000);
}

static void put_string (Gecko *w, const char *s) {
  tg_jsontext_string(w->out, s, strlen(s));
}

static const tg_Function *function_of (const Gecko *w,
                                       const tg_CallFunc *func) {
  return tg_functions_find(w->x->stream->functions, func->function);
}

/* A table of this format says which item of a row is what ("schema"), and has
   its rows as arrays ("data"). */
static void put_columns (Gecko *w, const char *schema) {
  put(w, "{\"schema\":{");
  put(w, schema);
  put(w, "},\"data\":[");
}

/* }================================================================== */

/*
** {==================================================================
** Tables of a thread
** ===================================================================
*/

/* Two places by which the pattern that reads a location could be misled: it
   takes one line only (there are four characters that end one), and " (" for
   where the path begins. */
static void add_in_line (tg_Buf *out, const char *text, bool path) {
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '\n' || *p == '\r')
      tg_buf_addstr(out, *p == '\n' ? "\\n" : "\\r");
    else if (strncmp(p, "\xE2\x80\xA8", 3) == 0
             || strncmp(p, "\xE2\x80\xA9", 3) == 0) {
      tg_buf_addchar(out, ' ');
      p += 2;
    }
    else if (path && p[0] == ' ' && p[1] == '(')
      tg_buf_addstr(out, "\xC2\xA0");       /* a space that does not break */
    else
      tg_buf_addchar(out, *p);
  }
}

/* The same wherever it is used, so that calls and samples agree. */
static void add_name (const Gecko *w, const tg_CallFunc *func, tg_Buf *out) {
  tg_Buf name = {0};
  tg_meta_name(&w->tracks, func, &name);
  tg_buf_addchar(&name, '\0');
  if (name.failed)
    out->failed = true;
  else
    add_in_line(out, name.data, false);
  tg_buf_free(&name);
}

/* "name (file:line)", or "name (in C)": what follows the name says how it is
   to be read, whatever the name is like. */
static void add_location (const Gecko *w, const tg_CallFunc *func,
                          tg_Buf *out) {
  const tg_Function *f = function_of(w, func);
  add_name(w, func, out);
  if (func->away || f == NULL)
    return;
  if (f->is_c || f->url == NULL) {
    tg_buf_addstr(out, " (in C)");
    return;
  }
  tg_buf_addstr(out, " (");
  add_in_line(out, f->url, true);
  tg_buf_addfmt(out, ":%u)", (unsigned)(f->line > 0 ? f->line : 1));
}

static void add_place (const Gecko *w, const tg_CallFunc *func, tg_Buf *out) {
  tg_meta_place(function_of(w, func), out);
}

/* A func's location has the func's number, its name one beyond those, its
   place one beyond these: the table of strings is written after all that
   refers to it, so numbers are agreed on beforehand. */
static void put_strings (Gecko *w, const tg_StackTables *c) {
  tg_Buf text = {0};
  put(w, ",\"stringTable\":[");
  static void (*const add[]) (const Gecko *w, const tg_CallFunc *func,
                              tg_Buf *out) = {
    add_location, add_name, add_place
  };
  for (uint32_t i = 0; i < NSTRINGS * c->nfuncs; i++) {
    tg_buf_clear(&text);
    add[i / c->nfuncs](w, &c->funcs[i % c->nfuncs], &text);
    tg_jsontext_string(w->out, text.data, text.size);
    put(w, ",");
    w->ok = w->ok && !text.failed;
    turn(w);
  }
  put(w, "\"" TG_VIEWER_CALL "\",\"" TG_VIEWER_NOTE "\"");
  if (w->tracks.console)
    put(w, ",\"" TG_VIEWER_CONSOLE "\",\"" TG_VIEWER_TIMER "\"");
  put(w, "]");
  tg_buf_free(&text);
}

/* Rows with as many items as the schema names; version 5 has the schema, but
   knows no categories. */
static void put_frames (Gecko *w, const tg_StackTables *c) {
  put(w, ",\"frameTable\":");
  put_columns(w, "\"location\":0,\"relevantForJS\":1,\"innerWindowID\":2,"
              "\"implementation\":3,\"line\":4,\"column\":5,\"category\":6,"
              "\"subcategory\":7");
  for (uint32_t i = 0; i < c->nframes; i++) {
    const tg_CallFunc *func = &c->funcs[c->frames[i].func];
    next(w, i);
    put_number(w, "[", c->frames[i].func);
    put(w, ",false,0,null,");
    if (c->frames[i].line > 0)
      tg_buf_addfmt(w->out, "%u,null,", (unsigned)c->frames[i].line);
    else
      put(w, "null,null,");
    if (w->old)
      put(w, "null,null]");
    else
      tg_buf_addfmt(w->out, "%u,0]",
                    tg_meta_category(function_of(w, func), func->away));
  }
  put(w, "]}");
}

/* A stack is a frame and the stack below it ("prefix"), which comes before it
   in the table. Rows are the same in both versions, and so are the places in
   their schemas. */
static void put_stacks (Gecko *w, const tg_StackTables *c) {
  put(w, ",\"stackTable\":");
  put_columns(w, w->old ? "\"frame\":0,\"prefix\":1"
                        : "\"prefix\":1,\"frame\":0");
  for (uint32_t i = 0; i < c->nstacks; i++) {
    next(w, i);
    put_number(w, "[", c->stacks[i].frame);
    if (c->stacks[i].prefix == TG_STACK_NONE)
      put(w, ",null");
    else
      put_number(w, ",", c->stacks[i].prefix);
    put(w, "]");
  }
  put(w, "]}");
}

/* Rows are copied from the spool. */
static void put_samples (Gecko *w, tg_Track *track) {
  if (!tg_geckosamples_finish(&w->tracks, track))
    w->ok = false;
  put(w, ",\"samples\":");
  put_columns(w, "\"stack\":0,\"time\":1,\"eventDelay\":2");
  if (w->ok && !tg_column_write(&w->tracks.spool, &track->samples, w->x->out))
    w->ok = false;
  put(w, "]}");
}

/* }================================================================== */

/*
** {==================================================================
** Markers
** ===================================================================
*/

/* What a row of a marker needs. */
typedef struct Marks {
  const Gecko *w;
  const tg_StackTables *stacks;
} Marks;

/* What the viewer shows of a marker; names and places by their numbers, as
   'put_strings' will write them. */
static void add_data (const Marks *k, tg_Buf *out, const tg_Mark *m) {
  uint32_t n = k->stacks->nfuncs;
  if (tg_note_is(m->func))
    tg_meta_note(out, m);
  else {
    const tg_Function *f = function_of(k->w, &k->stacks->funcs[m->func]);
    bool placed = f != NULL && !f->is_c && f->url != NULL;
    tg_meta_call(out, f, m, n + m->func,
                 placed ? 2 * n + m->func : TG_INTMAP_NONE);
  }
  tg_buf_addchar(out, ']');
}

/* The names of markers are behind all others, in the order of notes.h. */
static uint64_t name_of (const Marks *k, const tg_Mark *m) {
  uint32_t n = tg_note_is(m->func) ? 1 + TG_NOTE_MISSING - m->func : 0;
  return (uint64_t)NSTRINGS * k->stacks->nfuncs + n;
}

static void begin_mark (const Marks *k, tg_Buf *out, const tg_Mark *m) {
  tg_buf_addchar(out, '[');
  tg_buf_addu64(out, name_of(k, m));
  tg_buf_addchar(out, ',');
  tg_meta_moment(out, m->from);
  tg_buf_addchar(out, ',');
}

/* Runs on any thread: it reads tables that are complete (parts.h). Phase 1 is
   an interval. */
static void add_mark (const void *ud, tg_Buf *out, const tg_Mark *m) {
  const Marks *k = ud;
  begin_mark(k, out, m);
  tg_meta_moment(out, m->to);
  tg_buf_addstr(out, m->func == TG_NOTE_MOMENT ? ",0," : ",1,");
  tg_buf_addu64(out, tg_meta_mark_category(m->func));
  tg_buf_addchar(out, ',');
  add_data(k, out, m);
}

/* Version 5 has the time of a marker only. */
static void add_old_mark (const void *ud, tg_Buf *out, const tg_Mark *m) {
  const Marks *k = ud;
  begin_mark(k, out, m);
  add_data(k, out, m);
}

/* A row of an older marker has one time and no category: its viewers know no
   intervals. */
static void put_marks (Gecko *w, tg_Track *track) {
  Marks k = {.w = w, .stacks = track->stacks};
  put(w, ",\"markers\":{\"schema\":{");
  put(w, w->old ? "\"name\":0,\"time\":1,\"data\":2"
                : "\"name\":0,\"startTime\":1,\"endTime\":2,"
                  "\"phase\":3,\"category\":4,\"data\":5");
  put(w, "},\"data\":");
  if (w->ok && !tg_meta_marks(&w->tracks, track,
                              w->old ? add_old_mark : add_mark, &k, NULL))
    w->ok = false;
  put(w, "}");
}

/* }================================================================== */

/*
** {==================================================================
** The document
** ===================================================================
*/

/* After the last sample, by an interval at least: what is at the very end
   would be cut off. */
static uint64_t end_of (const Gecko *w) {
  uint64_t end = w->x->end_ns;
  for (uint32_t i = 0; i < w->tracks.count; i++) {
    if (end < w->tracks.list[i]->to_ns)
      end = w->tracks.list[i]->to_ns;
  }
  return end + 2 * w->samples.interval_ns;
}

/* Milliseconds: the start since 1970, all others since then. */
static void put_times (Gecko *w) {
  put(w, ",\"startTime\":");
  put_ms(w, w->x->wall_ns);
  put(w, ",\"interval\":");
  put_ms(w, w->samples.interval_ns);
  put(w, ",\"profilingStartTime\":");
  put_ms(w, w->x->start_ns);
  put(w, ",\"profilingEndTime\":");
  put_ms(w, end_of(w));
}

/* What Firefox says of itself is left empty where a reader looks at it, and
   left out elsewhere. "presymbolicated": names are names already, and nobody
   needs to look for libraries. */
static void put_meta (Gecko *w) {
  put(w, "{\"meta\":{\"version\":");
  put(w, w->old ? "5" : "36");
  put_times(w);
  put(w, ",\"shutdownTime\":null,\"processType\":0,\"stackwalk\":0,"
      "\"debug\":0,\"product\":");
  put_string(w, tg_meta_program(w->x));
  if (w->old)
    put(w, ",\"platform\":\"\",\"oscpu\":\"\",\"misc\":\"\",\"abi\":\"\","
        "\"toolkit\":\"\",\"extensions\":{\"schema\":{\"id\":0,\"name\":1,"
        "\"baseURL\":2},\"data\":[]}");
  put(w, ",\"presymbolicated\":true,\"importedFrom\":\"tracegrip "
      TG_VERSION "\"");
  if (!w->old) {
    put(w, ",\"categories\":");
    tg_meta_categories(w->out);
    put(w, ",\"markerSchema\":");
    tg_meta_schemas(&w->tracks, w->out, "data");
  }
  put(w, ",\"extra\":");
  tg_meta_extra(&w->tracks, w->out);
  put(w, "},\"libs\":[],\"pages\":[],\"pausedRanges\":[],\"processes\":[],");
  if (!w->old)
    put(w, "\"sources\":{\"schema\":{\"id\":0,\"filename\":1,\"startLine\":2,"
        "\"startColumn\":3,\"sourceMapURL\":4},\"data\":[]},");
}

/* The viewer takes the main thread by its name, and shows the process's. */
static void put_name (Gecko *w, const tg_Track *track, uint32_t i) {
  tg_Buf name = {0};
  if (i == 0)
    tg_buf_addstr(&name, "GeckoMain");
  else
    tg_tracks_name(&w->tracks, track, &name);
  put(w, "{\"name\":");
  tg_jsontext_string(w->out, name.data, name.size);
  w->ok = w->ok && !name.failed;
  put(w, ",\"processName\":");
  put_string(w, tg_meta_program(w->x));
  tg_buf_free(&name);
}

/* The first track is there from beginning to end; a coroutine's as long as it
   lived, unless several share it. The tables come after the samples and markers
   that refer to them: the viewer reads a thread as a whole. */
static void put_thread (Gecko *w, uint32_t i) {
  tg_Track *track = w->tracks.list[i];
  put_name(w, track, i);
  tg_buf_addfmt(w->out, ",\"processType\":\"default\",\"tid\":%u,\"pid\":%u,"
                "\"registerTime\":", (unsigned)track->thread,
                (unsigned)w->x->pid);
  put_ms(w, i == 0 ? w->x->start_ns : track->from_ns);
  put(w, ",\"unregisterTime\":");
  if (i > 0 && track->ended && !track->shared)
    put_ms(w, track->to_ns);
  else
    put(w, "null");
  put_samples(w, track);
  put_marks(w, track);
  put_frames(w, track->stacks);
  put_stacks(w, track->stacks);
  put_strings(w, track->stacks);
  put(w, "}");
}

/* The viewer adds up differences, as in processed.c. Counters came with a later
   version than the older one. */
static void put_counters (Gecko *w) {
  const tg_HeapCounter *h = &w->tracks.heap;
  if (h->count == 0 || w->old)
    return;
  put(w, ",\"counters\":[{\"name\":\"" TG_HEAPCOUNTER_NAME "\",\"category\":"
      "\"" TG_HEAPCOUNTER_CATEGORY "\",\"description\":\""
      TG_HEAPCOUNTER_ABOUT "\",\"samples\":");
  put_columns(w, "\"time\":0,\"count\":1");
  for (uint32_t i = 0; i < h->count; i++) {
    next(w, i);
    put(w, "[");
    put_ms(w, h->list[i].ns);
    tg_buf_addfmt(w->out, ",%" PRId64 "]", tg_heapcounter_change(h, i));
  }
  put(w, "]}}]");
}

static void put_document (Gecko *w) {
  put_meta(w);
  put(w, "\"threads\":[");
  for (uint32_t i = 0; i < w->tracks.count && turn(w); i++) {
    next(w, i);
    put_thread(w, i);
  }
  put(w, "]");
  put_counters(w);
  put(w, "}\n");
}

/* The older version has nothing that could show a call's values, so none are
   put aside. */
tg_Status tg_format_gecko (tg_Export *x) {
  Gecko w = {
    .x = x, .out = &x->out->text, .old = x->options.gecko == 5, .ok = true,
    .samples = tg_geckosamples_of(x)
  };
  bool ready = tg_tracks_init(&w.tracks, x, NULL);
  w.tracks.span = tg_geckosamples_span;
  w.tracks.writer = &w.samples;
  w.tracks.marked = !w.old;
  tg_Status status = ready ? tg_tracks_run(&w.tracks) : TG_ERR_MEMORY;
  if (status == TG_OK) {
    put_document(&w);
    status = tg_tracks_outcome(&w.tracks, w.ok && !w.out->failed);
  }
  int error = errno;
  tg_tracks_free(&w.tracks);
  errno = error;
  return status;
}

/* }================================================================== */
