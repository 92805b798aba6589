/*
** otlp.c - calls as spans of OpenTelemetry, in the JSON encoding of OTLP: a
** line for each batch, an ExportTraceServiceRequest, as the Collector's file
** exporter writes them and its receiver for such files reads them.
**
** A span is a call, from its entry to its end: what a coroutine waits between a
** yield and the resume is part of the calls that are open in it. Its parent is
** the call around it; that of a coroutine's first call is the one that resumed
** it first, and each later resume is a link. A span is written when it ends, so
** callees come before their callers.
**
** Names of attributes are those of the semantic conventions (code.*, thread.*,
** exception.*) where there are any, "lua.*" elsewhere. Ids are made of the
** recording's start and process, so that two exports of it are the same.
**
** Memory: the calls that are open or wait. Without it the export's status says
** so.
*/
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "base/intmap.h"
#include "export/boxnames.h"
#include "formats/formats.h"
#include "text/attributes.h"

#define SPANS 512u              /* in a batch */
#define LINKS 128u              /* of a span: OpenTelemetry's own limit */

typedef struct Span {
  uint64_t id, parent;          /* 0: no parent */
  uint64_t start_ns;
  uint64_t left_ns;             /* of one that waits */
  tg_FunctionId function;
  tg_ThreadId thread;
  char *arguments;              /* owns; NULL: none */
  uint64_t *links;              /* owns; ids of spans that resumed it again */
  uint32_t nlinks, clinks;
  uint32_t dropped;             /* links beyond the limit */
} Span;

typedef struct Document {
  tg_Export *x;
  tg_Buf *out;                  /* borrows; of x->out */
  char trace[33];               /* id of the trace, in hexadecimal */
  uint64_t root;                /* span of somebody else's around all, or 0 */
  uint64_t seed, made;          /* of ids, and how many */
  Span **open;                  /* owns; calls that are open, innermost last */
  uint32_t nopen, copen;
  Span **waiting;               /* owns; by number, NULL where none is */
  uint32_t nwaiting, cwaiting;
  tg_IntMap places;             /* owns; numbers by coroutine and level in it */
  uint32_t batch;               /* spans in the one that is written */
  tg_Buf text;                  /* owns; values of a packet */
} Document;

static bool fail (Document *d) {
  if (d->x->status == TG_OK)
    d->x->status = TG_ERR_MEMORY;
  return false;
}

/*
** {==================================================================
** Ids
** ===================================================================
*/

/* The finalizer of splitmix64: different numbers for different ones. */
static uint64_t scatter (uint64_t v) {
  v += UINT64_C(0x9e3779b97f4a7c15);
  v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
  return v ^ v >> 31;
}

/* An id is never 0, which is none. */
static uint64_t new_id (Document *d) {
  uint64_t id;
  do {
    id = scatter(d->seed ^ scatter(++d->made));
  } while (id == 0);
  return id;
}

/* "00-<trace>-<span>-<flags>" of W3C's Trace Context, which has been checked:
   spans hang below that one. */
static void take_parent (Document *d, const char *parent) {
  memcpy(d->trace, parent + 3, 32);
  for (int i = 0; i < 16; i++) {
    char c = parent[36 + i];
    d->root = d->root << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
  }
}

static void begin_ids (Document *d) {
  d->seed = scatter(d->x->wall_ns) ^ d->x->pid;
  static const char hex[] = "0123456789abcdef";
  uint64_t high = new_id(d), low = new_id(d);
  for (int i = 0; i < 16; i++) {
    d->trace[i] = hex[high >> (60 - 4 * i) & 15];
    d->trace[16 + i] = hex[low >> (60 - 4 * i) & 15];
  }
  if (d->x->options.parent != NULL)
    take_parent(d, d->x->options.parent);
}

/* }================================================================== */

/*
** {==================================================================
** JSON
** ===================================================================
*/

static void put_id (Document *d, const char *key, uint64_t id) {
  tg_buf_addfmt(d->out, "\"%s\":\"%016" PRIx64 "\"", key, id);
}

/* Times are strings: 64 bits are more than JSON's numbers are sure to have. */
static void put_time (Document *d, const char *key, uint64_t ns) {
  tg_buf_addfmt(d->out, "\"%s\":\"%" PRIu64 "\"", key, d->x->wall_ns + ns);
}

/* What comes before an attribute that is not the first. */
static void put_comma (Document *d) {
  if (d->out->size > 0 && d->out->data[d->out->size - 1] == '}')
    tg_buf_addchar(d->out, ',');
}

static void put_text (Document *d, const char *key, const char *s,
                      size_t size) {
  put_comma(d);
  tg_buf_addfmt(d->out, "{\"key\":\"%s\",\"value\":{\"stringValue\":", key);
  tg_export_string(d->out, s, size);
  tg_buf_addstr(d->out, "}}");
}

static void put_word (Document *d, const char *key, const char *s) {
  if (s != NULL && *s != '\0')
    put_text(d, key, s, strlen(s));
}

static void put_number (Document *d, const char *key, uint64_t n) {
  put_comma(d);
  tg_buf_addfmt(d->out, "{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRIu64
                "\"}}", key, n);
}

static void put_true (Document *d, const char *key) {
  put_comma(d);
  tg_buf_addfmt(d->out, "{\"key\":\"%s\",\"value\":{\"boolValue\":true}}",
                key);
}

/* }================================================================== */

/*
** {==================================================================
** Spans
** ===================================================================
*/

/* How a span ends. */
typedef struct End {
  uint64_t ns;
  const tg_Packet *packet;      /* its exit; NULL: it waits, at the end */
  bool unfinished;
} End;

static void put_name (Document *d, const Span *s) {
  tg_Buf name = {0};
  tg_boxname_label(tg_functions_find(d->x->stream->functions, s->function),
                   &name);
  tg_buf_addstr(d->out, "\"name\":");
  tg_export_string(d->out, name.data, name.size);
  d->out->failed = d->out->failed || name.failed;
  tg_buf_free(&name);
}

static void put_function (Document *d, const Span *s) {
  const tg_Function *f
      = tg_functions_find(d->x->stream->functions, s->function);
  if (f == NULL)
    return;
  put_word(d, "code.function.name", f->name);
  if (f->is_c || f->url == NULL)
    return;
  put_word(d, "code.file.path", f->url);
  if (f->line > 0)
    put_number(d, "code.line.number", f->line);
}

/* What the packet has, as Lua literals. */
static bool take_values (Document *d, const tg_Packet *p) {
  tg_buf_clear(&d->text);
  if (p == NULL || p->values.data == NULL)
    return false;
  tg_export_values(d->x, p, &d->text);
  return true;
}

static void put_attributes (Document *d, const Span *s, const End *end) {
  const tg_Packet *p = end->packet;
  tg_buf_addstr(d->out, ",\"attributes\":[");
  put_function(d, s);
  put_number(d, "thread.id", s->thread);
  put_word(d, "lua.arguments", s->arguments);
  if (p != NULL && p->why == TG_WHY_RETURN && take_values(d, p))
    put_text(d, "lua.results", d->text.data, d->text.size);
  if (p != NULL && p->tail)
    put_true(d, "lua.tail_call");
  if (p == NULL)
    put_true(d, "lua.suspended");
  else if (end->unfinished)
    put_true(d, "lua.unfinished");
  tg_buf_addchar(d->out, ']');
}

/* An error as the conventions have it: an event, and the span's status. */
static void put_error (Document *d, const End *end) {
  bool known = take_values(d, end->packet);
  tg_buf_addstr(d->out, ",\"events\":[{");
  put_time(d, "timeUnixNano", end->ns);
  tg_buf_addstr(d->out, ",\"name\":\"exception\",\"attributes\":[");
  if (known)
    put_text(d, "exception.message", d->text.data, d->text.size);
  tg_buf_addstr(d->out, "]}],\"status\":{\"code\":2");
  if (known) {
    tg_buf_addstr(d->out, ",\"message\":");
    tg_export_string(d->out, d->text.data, d->text.size);
  }
  tg_buf_addchar(d->out, '}');
}

static void put_links (Document *d, const Span *s) {
  if (s->nlinks == 0)
    return;
  tg_buf_addstr(d->out, ",\"links\":[");
  for (uint32_t i = 0; i < s->nlinks; i++) {
    tg_buf_addfmt(d->out, "%s{\"traceId\":\"%s\",", i > 0 ? "," : "",
                  d->trace);
    put_id(d, "spanId", s->links[i]);
    tg_buf_addstr(d->out, ",\"attributes\":[");
    put_word(d, "lua.link", "resume");
    tg_buf_addstr(d->out, "]}");
  }
  tg_buf_addchar(d->out, ']');
  if (s->dropped > 0)
    tg_buf_addfmt(d->out, ",\"droppedLinksCount\":%" PRIu32, s->dropped);
}

/* "5.4.6" of "Lua 5.4.6". */
static const char *version_of (const tg_Program *program) {
  const char *lua = program->lua;
  return lua != NULL && strncmp(lua, "Lua ", 4) == 0 ? lua + 4 : lua;
}

static void put_decoded (Document *d, const char *s, size_t size) {
  tg_buf_clear(&d->text);
  tg_attributes_decode(s, size, &d->text);
  tg_export_string(d->out, d->text.data, d->text.size);
  d->out->failed = d->out->failed || d->text.failed;
}

/* What the user says of the program: its keys are any text, unlike ours. */
static void put_said (Document *d) {
  const char *text = d->x->options.resource;
  tg_Attribute a;
  while (tg_attributes_next(&text, &a)) {
    put_comma(d);
    tg_buf_addstr(d->out, "{\"key\":");
    put_decoded(d, a.key, a.key_size);
    tg_buf_addstr(d->out, ",\"value\":{\"stringValue\":");
    put_decoded(d, a.value, a.value_size);
    tg_buf_addstr(d->out, "}}");
  }
}

/* What is known without being told, unless the user says otherwise. */
static void put_known (Document *d) {
  const tg_Export *x = d->x;
  const char *name = x->program->name;
  const char *const known[][2] = {
    {"service.name", name != NULL ? name : "lua"},
    {"process.runtime.name", "lua"},
    {"process.runtime.version", version_of(x->program)},
    {"telemetry.sdk.name", "tracegrip"},
    {"telemetry.sdk.language", "lua"},
    {"telemetry.sdk.version", TG_VERSION}
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (!tg_attributes_has(x->options.resource, known[i][0]))
      put_word(d, known[i][0], known[i][1]);
  }
  if (x->pid != 0 && !tg_attributes_has(x->options.resource, "process.pid"))
    put_number(d, "process.pid", x->pid);
}

/* What all spans have in common, before the first of a batch. */
static void begin_batch (Document *d) {
  const tg_Export *x = d->x;
  tg_Buf missing = {0};
  tg_export_remarks(x, &missing);
  tg_buf_addstr(d->out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
  put_known(d);
  put_said(d);
  if (missing.size > 0)
    put_text(d, "tracegrip.missing", missing.data, missing.size);
  tg_buf_addstr(d->out, "]},\"scopeSpans\":[{\"scope\":{\"name\":");
  tg_export_string(d->out, x->name, strlen(x->name));
  tg_buf_addstr(d->out, "},\"spans\":[");
  tg_buf_free(&missing);
}

static void end_batch (Document *d) {
  if (d->batch > 0)
    tg_buf_addstr(d->out, "]}]}]}\n");
  d->batch = 0;
}

static void put_span (Document *d, const Span *s, const End *end) {
  if (d->batch == 0)
    begin_batch(d);
  tg_buf_addfmt(d->out, "%s{\"traceId\":\"%s\",", d->batch++ > 0 ? "," : "",
                d->trace);
  put_id(d, "spanId", s->id);
  tg_buf_addchar(d->out, ',');
  if (s->parent != 0) {
    put_id(d, "parentSpanId", s->parent);
    tg_buf_addchar(d->out, ',');
  }
  put_name(d, s);
  tg_buf_addstr(d->out, ",\"kind\":1,");
  put_time(d, "startTimeUnixNano", s->start_ns);
  tg_buf_addchar(d->out, ',');
  put_time(d, "endTimeUnixNano", end->ns);
  put_attributes(d, s, end);
  put_links(d, s);
  if (end->packet != NULL && end->packet->why == TG_WHY_EXCEPTION)
    put_error(d, end);
  tg_buf_addchar(d->out, '}');
  if (d->batch == SPANS)
    end_batch(d);
}

/* }================================================================== */

/*
** {==================================================================
** Calls
** ===================================================================
*/

static void free_span (Span *s) {
  if (s == NULL)
    return;
  tg_free(s->arguments);
  tg_free(s->links);
  tg_free(s);
}

/* How many frames of the innermost frame's coroutine are below it. */
static uint32_t level_of (const tg_ExportFrame *frames, uint32_t n) {
  uint32_t level = 0;
  while (level + 1 < n
         && frames[n - 2 - level].thread == frames[n - 1].thread)
    level++;
  return level;
}

static uint64_t place_of (tg_ThreadId thread, uint32_t level) {
  return (uint64_t)thread << 32 | level;
}

/* The span of a call that goes on; NULL: it is not known. */
static Span *take_waiting (Document *d, uint64_t place) {
  uint32_t i = tg_intmap_find(&d->places, place);
  if (i == TG_INTMAP_NONE)
    return NULL;
  Span *s = d->waiting[i];
  tg_intmap_drop(&d->places, place);
  d->waiting[i] = NULL;
  while (d->nwaiting > 0 && d->waiting[d->nwaiting - 1] == NULL)
    d->nwaiting--;
  return s;
}

static bool wait (Document *d, Span *s, uint64_t place, uint64_t now_ns) {
  if (!tg_grow(&d->waiting, &d->cwaiting, d->nwaiting + 1, sizeof *d->waiting)
      || !tg_intmap_set(&d->places, place, d->nwaiting)) {
    free_span(s);
    return fail(d);
  }
  s->left_ns = now_ns;
  d->waiting[d->nwaiting++] = s;
  return true;
}

static bool link_span (Document *d, Span *s, uint64_t to) {
  if (s->nlinks == LINKS) {
    s->dropped++;
    return true;
  }
  if (!tg_grow(&s->links, &s->clinks, s->nlinks + 1, sizeof *s->links))
    return fail(d);
  s->links[s->nlinks++] = to;
  return true;
}

static Span *new_span (Document *d, const tg_Packet *p, uint64_t parent) {
  Span *s = tg_calloc(1, sizeof *s);
  if (s == NULL)
    return NULL;
  *s = (Span){.id = new_id(d), .parent = parent, .start_ns = p->time_ns,
              .function = p->function, .thread = p->thread};
  if (take_values(d, p)) {
    s->arguments = tg_strdup(d->text.data, d->text.size);
    if (s->arguments == NULL || d->text.failed)
      fail(d);
  }
  return s;
}

/* The call around it, whatever coroutine that is in. */
static bool enter (Document *d, const tg_Packet *p) {
  uint32_t n;
  const tg_ExportFrame *frames = tg_export_frames(d->x, &n);
  uint32_t level = level_of(frames, n);
  uint64_t around = d->nopen > 0 ? d->open[d->nopen - 1]->id : d->root;
  Span *s = p->resumed ? take_waiting(d, place_of(p->thread, level)) : NULL;
  if (s != NULL && level == 0 && d->nopen > 0
      && !link_span(d, s, d->open[d->nopen - 1]->id)) {
    free_span(s);
    return false;
  }
  if (s == NULL)
    s = new_span(d, p, around);
  if (s == NULL
      || !tg_grow(&d->open, &d->copen, d->nopen + 1, sizeof *d->open)) {
    free_span(s);
    return fail(d);
  }
  d->open[d->nopen++] = s;
  return true;
}

static bool leave (Document *d, const tg_Packet *p) {
  uint32_t n, level = 0;
  const tg_ExportFrame *frames = tg_export_frames(d->x, &n);
  tg_assert(d->nopen == n + 1);
  Span *s = d->open[--d->nopen];
  if (n > 0 && frames[n - 1].thread == p->thread)
    level = level_of(frames, n) + 1;
  if (p->why == TG_WHY_YIELD)
    return wait(d, s, place_of(p->thread, level), p->time_ns);
  put_span(d, s, &(End){p->time_ns, p, d->x->unfinished});
  free_span(s);
  return true;
}

static bool put_calls (Document *d) {
  tg_Packet p;
  while (tg_export_next(d->x, &p)) {
    if (!(p.why == TG_WHY_ENTER ? enter(d, &p) : leave(d, &p)))
      return false;
    if (!tg_outfile_turn(d->x->out))
      return false;
  }
  return d->x->status == TG_OK;
}

/* Calls of coroutines that were not resumed any more. */
static void put_waiting (Document *d) {
  for (uint32_t i = 0; i < d->nwaiting; i++) {
    if (d->waiting[i] == NULL)
      continue;
    put_span(d, d->waiting[i], &(End){d->waiting[i]->left_ns, NULL, false});
    if (!tg_outfile_turn(d->x->out))
      return;
  }
}

/* }================================================================== */

tg_Status tg_format_otlp (tg_Export *x) {
  Document d = {.x = x, .out = &x->out->text};
  begin_ids(&d);
  if (put_calls(&d)) {
    put_waiting(&d);
    end_batch(&d);
  }
  for (uint32_t i = 0; i < d.nopen; i++)
    free_span(d.open[i]);
  for (uint32_t i = 0; i < d.nwaiting; i++)
    free_span(d.waiting[i]);
  tg_free(d.open);
  tg_free(d.waiting);
  tg_intmap_free(&d.places);
  tg_buf_free(&d.text);
  return x->status;
}
