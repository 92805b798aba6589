/*
** meta.c - see meta.h. For processed.c and gecko.c and the files of their
** parts.
**
** All is text in a buffer: memory that was refused shows there, or in the
** result of tg_meta_marks, which is also false if the user of a marker says
** stop.
*/
#include "formats/firefox/meta.h"

#include <inttypes.h>
#include <string.h>

#include "export/boxnames.h"
#include "export/jsontext.h"

/* The order of the list. Samples and markers name a category by its place. */
enum { OTHER, LUA, C, COROUTINE, GC };

/* Names and colours are of the few that the viewer knows; a category must have
   one subcategory at least. */

void tg_meta_categories (tg_Buf *out) {
  static const char *const list[][2] = {
    {"Other", "grey"}, {"Lua", "blue"}, {"C", "yellow"},
    {"Coroutine", "purple"}, {"GC", "orange"}
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    tg_buf_addfmt(out, "%s{\"name\":\"%s\",\"color\":\"%s\","
                  "\"subcategories\":[\"Other\"]}",
                  i == 0 ? "[" : ",", list[i][0], list[i][1]);
  tg_buf_addchar(out, ']');
}

/* Finalizers are not seen: the interpreter calls them without hooks. */
static bool collects (const tg_Function *f) {
  return f->is_c && f->name != NULL && strcmp(f->name, "collectgarbage") == 0;
}

/* Colours of boxes. What resumes a coroutine is of the coroutines, as is the
   time in which another one runs above. */
unsigned tg_meta_category (const tg_Function *f, bool away) {
  if (away)
    return COROUTINE;
  if (f == NULL || (!f->is_c && f->url == NULL))
    return OTHER;
  if (collects(f))
    return GC;
  if (f->role >= TG_ROLE_RESUME && f->role <= TG_ROLE_CLOSE)
    return COROUTINE;
  return f->is_c ? C : LUA;
}

/* Of a marker; an error stands out. */
static const char *color_of (const tg_Function *f, bool thrown) {
  static const char *const colors[] = {
    [OTHER] = "grey", [LUA] = "blue", [C] = "yellow", [COROUTINE] = "purple",
    [GC] = "orange"
  };
  return thrown ? "red" : colors[tg_meta_category(f, false)];
}

/*
** {==================================================================
** Kinds of markers
** ===================================================================
*/

/* Rows of the marker chart are made category by category: calls have one, or
   what is called would stand above its caller. */
unsigned tg_meta_mark_category (uint32_t func) {
  return tg_note_is(func) ? OTHER : LUA;
}

const char *tg_meta_mark_name (uint32_t func) {
  switch (func) {
    case TG_NOTE_MISSING: return TG_VIEWER_NOTE;
    case TG_NOTE_MOMENT: return TG_VIEWER_CONSOLE;
    case TG_NOTE_TIMER: return TG_VIEWER_TIMER;
    default: return TG_VIEWER_CALL;
  }
}

static const char *type_of (uint32_t note) {
  switch (note) {
    case TG_NOTE_MOMENT: return TG_VIEWER_CONSOLE_TYPE;
    case TG_NOTE_TIMER: return TG_VIEWER_TIMER_TYPE;
    default: return TG_VIEWER_NOTE_TYPE;
  }
}

/* 'name' and 'place' are numbers of strings: most calls have them in common.
   The mark's own text is members already, each after its comma (marktext.c). */
void tg_meta_call (tg_Buf *out, const tg_Function *f, const tg_Mark *m,
                   uint32_t name, uint32_t place) {
  tg_buf_addstr(out, "{\"type\":\"" TG_VIEWER_CALL_TYPE "\",\"fn\":");
  tg_buf_addu64(out, name);
  if (place != TG_INTMAP_NONE) {
    tg_buf_addstr(out, ",\"at\":");
    tg_buf_addu64(out, place);
  }
  tg_buf_addstr(out, ",\"color\":\"");
  tg_buf_addstr(out, color_of(f, m->thrown));
  tg_buf_addchar(out, '"');
  tg_buf_add(out, m->text.data, m->text.size);
  tg_buf_addchar(out, '}');
}

void tg_meta_note (tg_Buf *out, const tg_Mark *m) {
  tg_assert(tg_note_is(m->func));
  tg_buf_addfmt(out, "{\"type\":\"%s\"", type_of(m->func));
  tg_buf_add(out, m->text.data, m->text.size);
  tg_buf_addchar(out, '}');
}

/* Values may be private: "sanitized" strings are left out of a profile that is
   shared. */
static void add_fields (tg_Buf *out) {
  static const char *const list[][3] = {
    {"fn", "Function", "unique-string"},
    {"args", "Arguments", "sanitized-string"},
    {"out", "Outcome", "sanitized-string"},
    {"at", "Defined at", "unique-string"},
    {"from", "Called from", "string"}
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    tg_buf_addfmt(out, "{\"key\":\"%s\",\"label\":\"%s\",\"format\":\"%s\"},",
                  list[i][0], list[i][1], list[i][2]);
  tg_buf_addstr(out, "{\"key\":\"color\",\"format\":\"string\","
                "\"hidden\":true}");
}

/* Of the console: what it said, by which method, or how a timer was called. */
static void add_console_schemas (tg_Buf *out, const char *fields) {
  static const char from[]
      = "{\"key\":\"from\",\"label\":\"Called from\",\"format\":\"string\"}";
  tg_buf_addfmt(out, ",{\"name\":\"%s\",\"display\":[\"marker-chart\","
                "\"marker-table\",\"timeline-overview\"],"
                "\"tableLabel\":\"{marker.data.method} {marker.data.values}\","
                "\"chartLabel\":\"{marker.data.method}\","
                "\"colorField\":\"color\",\"%s\":[{\"key\":\"method\","
                "\"label\":\"Method\",\"format\":\"string\"},{\"key\":"
                "\"values\",\"label\":\"Values\",\"format\":"
                "\"sanitized-string\"},%s,{\"key\":\"color\",\"format\":"
                "\"string\",\"hidden\":true}]}",
                TG_VIEWER_CONSOLE_TYPE, fields, from);
  tg_buf_addfmt(out, ",{\"name\":\"%s\",\"display\":[\"marker-chart\","
                "\"marker-table\",\"timeline-overview\"],"
                "\"tableLabel\":\"{marker.data.label}\","
                "\"chartLabel\":\"{marker.data.label}\",\"%s\":[{\"key\":"
                "\"label\",\"label\":\"Timer\",\"format\":"
                "\"sanitized-string\"},%s]}",
                TG_VIEWER_TIMER_TYPE, fields, from);
}

/* What the viewer shows of our markers, and how: without a schema it shows
   their names only. Its table has lines as a log has. */
void tg_meta_schemas (const tg_Tracks *t, tg_Buf *out, const char *fields) {
  tg_buf_addfmt(out, "[{\"name\":\"%s\",\"display\":[\"marker-chart\","
                "\"marker-table\"],\"tooltipLabel\":\"{marker.data.fn}\","
                "\"tableLabel\":\"{marker.data.fn}{marker.data.args} "
                "{marker.data.out}\",\"chartLabel\":\"{marker.data.fn}\","
                "\"colorField\":\"color\",\"%s\":[",
                TG_VIEWER_CALL_TYPE, fields);
  add_fields(out);
  tg_buf_addfmt(out, "]},{\"name\":\"%s\",\"display\":[\"marker-chart\","
                "\"marker-table\",\"timeline-overview\"],"
                "\"tableLabel\":\"{marker.data.note}\",\"%s\":[{\"key\":"
                "\"note\",\"label\":\"Note\",\"format\":\"string\"}]}",
                TG_VIEWER_NOTE_TYPE, fields);
  if (t->console)
    add_console_schemas(out, fields);
  tg_buf_addchar(out, ']');
}

/* }================================================================== */

/*
** {==================================================================
** What is known
** ===================================================================
*/

const char *tg_meta_program (const tg_Export *x) {
  return x->program->name != NULL ? x->program->name : "Lua";
}

/* An entry without a value is left out: a viewer would show the label and
   nothing behind it. */
static void add_entry (tg_Buf *out, const char *label, const tg_Buf *value) {
  out->failed = out->failed || value->failed;
  if (value->size == 0 || out->failed)
    return;
  if (out->data[out->size - 1] != '[')
    tg_buf_addchar(out, ',');
  tg_buf_addfmt(out, "{\"label\":\"%s\",\"format\":\"string\",\"value\":",
                label);
  tg_jsontext_string(out, value->data, value->size);
  tg_buf_addchar(out, '}');
}

/* What the viewer shows where it says "profile info": each of these writes the
   text of one entry, or nothing. */

static void write_arguments (const tg_Tracks *t, tg_Buf *text) {
  const tg_Program *p = t->x->program;
  for (uint32_t i = 0; i < p->count; i++)
    tg_buf_addfmt(text, "%s%s", i > 0 ? " " : "", p->arguments[i]);
}

static void write_versions (const tg_Tracks *t, tg_Buf *text) {
  const tg_Program *p = t->x->program;
  tg_buf_addfmt(text, "tracegrip %s",
                p->tracegrip != NULL ? p->tracegrip : TG_VERSION);
  if (p->lua != NULL)
    tg_buf_addfmt(text, ", %s", p->lua);
}

static void write_cut (const tg_Tracks *t, tg_Buf *text) {
  tg_export_left_out(t->x, text);
}

static void write_folded (const tg_Tracks *t, tg_Buf *text) {
  if (t->x->folded > 0)
    tg_buf_addfmt(text, "%" PRIu64 " calls deeper than %" PRIu32 " frames",
                  t->x->folded, t->x->depth);
}

/* Whoever looks for a call in the marker chart and does not find it should know
   why. */
static void write_unmarked (const tg_Tracks *t, tg_Buf *text) {
  uint32_t n = tg_longestcalls_count(&t->marks.longest);
  if (t->marks.longest.seen > n)
    tg_buf_addfmt(text, "those of the %" PRIu32 " longest of %" PRIu64
                  " calls", n, t->marks.longest.seen);
}

static void write_program (const tg_Tracks *t, tg_Buf *text) {
  tg_buf_addstr(text, tg_meta_program(t->x));
}

static void write_trace (const tg_Tracks *t, tg_Buf *text) {
  tg_buf_addstr(text, t->x->name);
}

static void write_loss (const tg_Tracks *t, tg_Buf *text) {
  tg_export_loss(t->x, text);
}

/* Times in a viewer count from there; a log's and those that filters take do
   not. */
static void write_start (const tg_Tracks *t, tg_Buf *text) {
  tg_jsontext_time(text, t->x->start_ns, 1000000);
  tg_buf_addstr(text, " ms on the clock of log, packets and --from");
}

/* Shown when one asks the viewer for the profile's info, in this order. */
void tg_meta_extra (const tg_Tracks *t, tg_Buf *out) {
  static const struct {
    const char *label;
    void (*write) (const tg_Tracks *t, tg_Buf *text);
  } list[] = {
    {"Program", write_program}, {"Arguments", write_arguments},
    {"Recorded by", write_versions}, {"Trace", write_trace},
    {"Not recorded", write_loss}, {"Left out", write_cut},
    {"Folded", write_folded}, {"Markers", write_unmarked},
    {"Time 0", write_start}
  };
  tg_Buf text = {0};
  tg_buf_addstr(out, "[{\"label\":\"Lua program\",\"entries\":[");
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    tg_buf_clear(&text);
    list[i].write(t, &text);
    add_entry(out, list[i].label, &text);
  }
  tg_buf_addstr(out, "]}]");
  tg_buf_free(&text);
}

/* An empty remark is none. */
static bool add_remark (tg_Notes *n, const tg_Buf *remark, uint64_t from_ns,
                        uint64_t to_ns) {
  if (remark->size == 0)
    return !remark->failed;
  tg_buf_addstr(&n->text, ",\"note\":");
  tg_jsontext_string(&n->text, remark->data, remark->size);
  return !remark->failed && tg_notes_add(n, TG_NOTE_MISSING, from_ns, to_ns);
}

/* On the first track: it is there whatever the program was. */
static bool add_remarks (const tg_Tracks *t, tg_Notes *n) {
  const tg_Export *x = t->x;
  uint64_t when = x->lost[TG_LOSS_RING] > 0 ? x->start_ns : x->end_ns;
  tg_Buf remark = {0};
  tg_export_loss(x, &remark);
  bool ok = add_remark(n, &remark, when, when);
  tg_buf_clear(&remark);
  write_cut(t, &remark);
  ok = ok && add_remark(n, &remark, x->start_ns, x->end_ns);
  tg_buf_free(&remark);
  return ok;
}

/* The calls of one track, and the notes if it is the first. */
bool tg_meta_marks (tg_Tracks *t, tg_Track *track, tg_MarkPut *put,
                    const void *ud, tg_Buf *list) {
  tg_Notes *n = &track->notes;
  if (track == t->list[0] && !add_remarks(t, n))
    return false;
  tg_notes_place(n);
  tg_MarkSource source = {&track->marks, track->stacks, n->list, n->count};
  return !n->text.failed
         && tg_marktext_write(&t->texts, &source, put, ud, list, t->x->out);
}

/* Milliseconds with nine decimals if need be: a double has room for them in a
   recording of an hour. */
void tg_meta_moment (tg_Buf *out, tg_Moment m) {
  tg_assert(m.part <= 999);
  if (m.part == 0)
    tg_jsontext_time(out, m.ns, 1000000);
  else
    tg_buf_addfmt(out, "%" PRIu64 ".%06" PRIu64 "%03u",
                  m.ns / 1000000, m.ns % 1000000, (unsigned)m.part);
}

void tg_meta_name (const tg_Tracks *t, const tg_CallFunc *func,
                   tg_Buf *out) {
  const tg_Functions *fs = t->x->stream->functions;
  const tg_Function *f = func->away ? tg_functions_find(fs, func->function)
                                    : tg_functions_shown(fs, func->function);
  tg_buf_addstr(out, func->away ? "(in coroutine " : "");
  tg_boxname_label(f, out);
  tg_buf_addstr(out, func->away ? ")" : "");
}

/* A main chunk is at line 1, where the viewer shows it. */
bool tg_meta_place (const tg_Function *f, tg_Buf *out) {
  if (f == NULL || f->is_c || f->url == NULL)
    return false;
  tg_buf_addfmt(out, "%s:%u", f->url, (unsigned)(f->line > 0 ? f->line : 1));
  return true;
}

/* }================================================================== */
