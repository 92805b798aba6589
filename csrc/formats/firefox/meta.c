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

/* The order of the list. */
enum { OTHER, LUA, C, COROUTINE, GC };

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
  if (f == NULL)
    return OTHER;
  if (collects(f))
    return GC;
  if (f->role >= TG_ROLE_RESUME && f->role <= TG_ROLE_CLOSE)
    return COROUTINE;
  return f->is_c ? C : LUA;
}

/*
** {==================================================================
** Kinds of markers
** ===================================================================
*/

/* Values may be private: "sanitized" strings are left out of a profile that is
   shared. */
static void add_fields (tg_Buf *out) {
  static const char *const list[][3] = {
    {"fn", "Function", "unique-string"},
    {"args", "Arguments", "sanitized-string"},
    {"returns", "Returns", "sanitized-string"},
    {"throws", "Throws", "sanitized-string"},
    {"yields", "Yields", "sanitized-string"},
    {"begins", "Begins", "string"},
    {"ends", "Ends", "string"}
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    tg_buf_addfmt(out, "%s{\"key\":\"%s\",\"label\":\"%s\",\"format\":\"%s\"}",
                  i == 0 ? "" : ",", list[i][0], list[i][1], list[i][2]);
}

/* What the viewer shows of our markers, and how: without a schema it shows
   their names only. */
void tg_meta_schemas (tg_Buf *out, const char *fields) {
  tg_buf_addfmt(out, "[{\"name\":\"%s\",\"display\":[\"marker-chart\","
                "\"marker-table\"],\"tooltipLabel\":\"{marker.data.fn}\","
                "\"tableLabel\":\"{marker.data.fn}({marker.data.args})\","
                "\"chartLabel\":\"{marker.data.fn}\",\"%s\":[",
                TG_VIEWER_CALL_TYPE, fields);
  add_fields(out);
  tg_buf_addfmt(out, "]},{\"name\":\"%s\",\"display\":[\"marker-chart\","
                "\"marker-table\",\"timeline-overview\"],"
                "\"tableLabel\":\"{marker.data.note}\",\"%s\":[{\"key\":"
                "\"note\",\"label\":\"Note\",\"format\":\"string\"}]}]",
                TG_VIEWER_NOTE_TYPE, fields);
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
  tg_export_string(out, value->data, value->size);
  tg_buf_addchar(out, '}');
}

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

void tg_meta_extra (const tg_Tracks *t, tg_Buf *out) {
  static const struct {
    const char *label;
    void (*write) (const tg_Tracks *t, tg_Buf *text);
  } list[] = {
    {"Program", write_program}, {"Arguments", write_arguments},
    {"Recorded by", write_versions}, {"Trace", write_trace},
    {"Not recorded", write_loss}, {"Left out", write_cut},
    {"Folded", write_folded}, {"Markers", write_unmarked}
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

/* A note as a marker; 'text' says what, and an empty one is none. On the first
   track: it is there whatever the program was. */
static bool use_note (const tg_Buf *text, uint64_t from_ns, uint64_t to_ns,
                      tg_MarkUse *use, void *ud) {
  tg_Buf member = {0};
  tg_buf_addstr(&member, ",\"note\":");
  tg_export_string(&member, text->data, text->size);
  tg_Mark m = {
    .from = {from_ns, 0}, .to = {to_ns, 0}, .func = TG_STACK_NONE,
    .text = {(const uint8_t *)member.data, member.size, NULL}
  };
  bool ok = !text->failed && !member.failed
            && (text->size == 0 || use(ud, &m));
  tg_buf_free(&member);
  return ok;
}

static bool use_notes (const tg_Tracks *t, tg_MarkUse *use, void *ud) {
  const tg_Export *x = t->x;
  uint64_t when = x->lost[TG_LOSS_RING] > 0 ? x->start_ns : x->end_ns;
  tg_Buf text = {0};
  tg_export_loss(x, &text);
  bool ok = use_note(&text, when, when, use, ud);
  tg_buf_clear(&text);
  write_cut(t, &text);
  ok = ok && use_note(&text, x->start_ns, x->end_ns, use, ud);
  tg_buf_free(&text);
  return ok;
}

bool tg_meta_marks (tg_Tracks *t, const tg_Track *track, tg_MarkUse *use,
                    void *ud) {
  return tg_callmarks_each(&t->marks, &track->marks, track->stacks, use, ud)
         && (track != t->list[0] || use_notes(t, use, ud));
}

/* Milliseconds with nine decimals if need be: a double has room for them in a
   recording of an hour. */
void tg_meta_moment (tg_Buf *out, tg_Moment m) {
  tg_assert(m.part <= 999);
  if (m.part == 0)
    tg_export_time(out, m.ns, 1000000);
  else
    tg_buf_addfmt(out, "%" PRIu64 ".%06" PRIu64 "%03" PRIu32,
                  m.ns / 1000000, m.ns % 1000000, m.part);
}

void tg_meta_name (const tg_Tracks *t, const tg_CallFunc *func,
                   tg_Buf *out) {
  const tg_Function *f = tg_functions_find(t->x->stream->functions,
                                           func->function);
  const char *name = f != NULL && f->name != NULL ? f->name : "?";
  if (func->away)
    tg_buf_addfmt(out, "(in coroutine %s)", name);
  else
    tg_buf_addstr(out, name);
}

/* }================================================================== */
