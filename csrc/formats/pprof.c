/*
** pprof.c - stacks and what is added up of them, as pprof and the stores of
** continuous profiles read them (profile.proto of github.com/google/pprof).
**
** A sample here is a distinct stack (pprofstacks.h) with what the recording
** tells of it: calls and time, samples of a profiler, allocations; pprof adds
** up what is below a function itself. A location is a function with a line: of
** the innermost frame the line that ran, as samples tell, or has allocated,
** else its first line, which is where calls begin; of each other one the line
** of the call that is open in it. Coroutines that begin with the same function
** are one, and are told apart by the label "coroutine". A sample whose stacks
** were deeper than it shows has the label "recursion".
**
** Strings, functions and locations are numbered as they are met, and come after
** the samples. Memory: the distinct stacks. Without it the export's status says
** so.
*/
#include <string.h>

#include "base/intern.h"
#include "export/boxnames.h"
#include "export/ticks.h"
#include "formats/formats.h"
#include "formats/pprofstacks.h"
#include "text/protobuf.h"

/* Fields of profile.proto. */
enum {
  SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING,
  TIME_NANOS = 9, DURATION_NANOS, PERIOD_TYPE, PERIOD, COMMENT, DEFAULT_TYPE
};
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STRING };
enum { TYPE_KIND = 1, TYPE_UNIT };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_FUNCTIONS = 7, MAPPING_FILES,
       MAPPING_LINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE,
       FUNCTION_LINE };

/* Kinds and units of the values, in the order of tg_PprofValue. Those of
   allocations are Go's. */
static const char *const types[TG_PPROF_VALUES][2] = {
  {"calls", "count"}, {"time", "nanoseconds"}, {"samples", "count"},
  {"cpu", "nanoseconds"}, {"alloc_objects", "count"}, {"alloc_space", "bytes"},
  {"freed_space", "bytes"}, {"inuse_objects", "count"},
  {"inuse_space", "bytes"}
};

typedef struct Document {
  tg_Export *x;
  tg_PprofStacks stacks;        /* owns */
  tg_Spots locations;           /* owns */
  tg_Intern strings;            /* owns */
  tg_Buf message, part;         /* own; scratch */
} Document;

static bool fail (Document *d) {
  if (d->x->status == TG_OK)
    d->x->status = TG_ERR_MEMORY;
  return false;
}

/*
** {==================================================================
** Samples
** ===================================================================
*/

/* The number of a string; number 0, which protobuf leaves out, is the empty
   string. Without memory the document fails. */
static uint32_t string (Document *d, const char *s, size_t size) {
  uint32_t n = tg_intern_add(&d->strings, s, size);
  if (n != TG_INTMAP_NONE)
    return n;
  fail(d);
  return 0;
}

static uint32_t word (Document *d, const char *s) {
  return string(d, s, strlen(s));
}

/* What 'd->part' has become, as a string. */
static uint32_t part (Document *d) {
  uint32_t n = string(d, d->part.data, d->part.size);
  if (d->part.failed)
    fail(d);
  tg_buf_clear(&d->part);
  return n;
}

/* "worker (prog.lua:12)", or "main". */
static uint32_t coroutine_name (Document *d, uint32_t row) {
  if (row == TG_PPROF_MAIN)
    return word(d, "main");
  tg_boxname_body(tg_funclabels_function(&d->stacks.labels,
                                         row - TG_PPROF_BODIES),
                  false, &d->part);
  return part(d);
}

/* The lines of a stack from the innermost frame out. 'line' is where a frame
   is: that which ran, then at the call of the one before; where nothing is
   known, where it begins. Returns the root. */
static uint32_t put_locations (Document *d, uint32_t node, uint32_t line) {
  const tg_PprofStacks *s = &d->stacks;
  while (s->tree.nodes[node].parent != 0) {
    const tg_Spot *callee = &s->callees.list[s->tree.nodes[node].row];
    const tg_Function *f = tg_funclabels_function(&s->labels, callee->of);
    if (line == 0)
      line = tg_funclabels_line(f);
    uint32_t n = tg_spots_number(&d->locations, callee->of, line);
    if (n == TG_INTMAP_NONE)
      fail(d);
    tg_protobuf_varint(&d->part, n + UINT64_C(1));
    line = callee->line;
    node = s->tree.nodes[node].parent;
  }
  tg_protobuf_message(&d->message, SAMPLE_LOCATIONS, &d->part);
  return node;
}

static void put_label (Document *d, const char *key, uint32_t value) {
  tg_protobuf_number(&d->part, LABEL_KEY, word(d, key));
  tg_protobuf_number(&d->part, LABEL_STRING, value);
  tg_protobuf_message(&d->message, SAMPLE_LABEL, &d->part);
}

static void put_values (Document *d, const uint64_t *values) {
  for (tg_PprofValue v = 0; v < TG_PPROF_VALUES; v++) {
    if (tg_pprofstacks_tells(&d->stacks, v))
      tg_protobuf_varint(&d->part, values[v]);
  }
  tg_protobuf_message(&d->message, SAMPLE_VALUES, &d->part);
}

static bool is_any (const Document *d, const uint64_t *values) {
  uint64_t any = 0;
  for (tg_PprofValue v = 0; v < TG_PPROF_VALUES; v++) {
    if (tg_pprofstacks_tells(&d->stacks, v))
      any |= values[v];
  }
  return any != 0;
}

/* A stack that was nothing but the way to others is no sample. */
static void put_sample (Document *d, uint32_t node, uint32_t line,
                        const uint64_t *values) {
  if (!is_any(d, values))
    return;
  uint32_t root = put_locations(d, node, line);
  put_values(d, values);
  put_label(d, "coroutine",
            coroutine_name(d, d->stacks.tree.nodes[root].row));
  if (d->stacks.nodes[node].folded)
    put_label(d, "recursion", word(d, "folded"));
  tg_protobuf_message(&d->x->out->text, SAMPLE, &d->message);
}

/* One for each line that ran or has allocated, and one for what nothing tells
   of. */
static void put_lines (Document *d, uint32_t node) {
  const tg_LineTimes *lines = &d->stacks.lines;
  uint64_t rest[TG_PPROF_VALUES];
  memcpy(rest, d->stacks.nodes[node].values, sizeof rest);
  for (uint32_t i = lines->first[node]; i != TG_INTMAP_NONE;
       i = lines->next[i]) {
    const tg_LineTime *t = &lines->list[i];
    uint32_t line = lines->spots.list[i].line;
    if (line == 0)
      continue;
    uint64_t values[TG_PPROF_VALUES] = {
      [TG_PPROF_TIME] = t->self_ns, [TG_PPROF_SAMPLES] = t->periods,
      [TG_PPROF_CPU] = t->ticked.ns, [TG_PPROF_OBJECTS] = t->allocations,
      [TG_PPROF_SPACE] = t->bytes, [TG_PPROF_LIVE] = t->live.blocks,
      [TG_PPROF_LIVE_SPACE] = t->live.bytes
    };
    for (tg_PprofValue v = 0; v < TG_PPROF_VALUES; v++)
      rest[v] -= values[v];
    put_sample(d, node, line, values);
  }
  put_sample(d, node, 0, rest);
}

/* False when the output has failed. */
static bool put_samples (Document *d) {
  for (uint32_t i = 1; i < d->stacks.tree.count; i++) {
    tg_assert(i < d->stacks.cnodes);
    if (d->stacks.tree.nodes[i].parent == 0)
      continue;                 /* a root is no stack */
    put_lines(d, i);
    if (d->x->status != TG_OK || !tg_outfile_turn(d->x->out))
      return false;
  }
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Tables
** ===================================================================
*/

static void put_type (Document *d, uint32_t field, const char *kind,
                      const char *unit) {
  tg_protobuf_number(&d->message, TYPE_KIND, word(d, kind));
  tg_protobuf_number(&d->message, TYPE_UNIT, word(d, unit));
  tg_protobuf_message(&d->x->out->text, field, &d->message);
}

/* One, the program: there is no machine code, all is symbolized. */
static void put_mapping (Document *d) {
  const char *name = d->x->program != NULL ? d->x->program->name : NULL;
  tg_protobuf_number(&d->message, MAPPING_ID, 1);
  tg_protobuf_number(&d->message, MAPPING_FILE,
                     word(d, name != NULL ? name : "lua"));
  tg_protobuf_number(&d->message, MAPPING_FUNCTIONS, 1);
  tg_protobuf_number(&d->message, MAPPING_FILES, 1);
  tg_protobuf_number(&d->message, MAPPING_LINES, 1);
  tg_protobuf_message(&d->x->out->text, MAPPING, &d->message);
}

/* Functions have the numbers of their labels, from 1. */
static void put_location (Document *d, uint32_t i) {
  const tg_Spot *at = &d->locations.list[i];
  tg_protobuf_number(&d->message, LOCATION_ID, i + UINT64_C(1));
  tg_protobuf_number(&d->message, LOCATION_MAPPING, 1);
  tg_protobuf_number(&d->part, LINE_FUNCTION, at->of + UINT64_C(1));
  tg_protobuf_number(&d->part, LINE_NUMBER, at->line);
  tg_protobuf_message(&d->message, LOCATION_LINE, &d->part);
  tg_protobuf_message(&d->x->out->text, LOCATION, &d->message);
}

static void put_function (Document *d, uint32_t label) {
  const tg_Function *f = tg_funclabels_function(&d->stacks.labels, label);
  uint32_t file = 0;
  tg_boxname_label(f, &d->part);
  uint32_t name = part(d);
  if (!f->is_c && f->url != NULL) {
    tg_boxname_path(d->x, f, &d->part);
    file = part(d);
  }
  tg_protobuf_number(&d->message, FUNCTION_ID, label + UINT64_C(1));
  tg_protobuf_number(&d->message, FUNCTION_NAME, name);
  tg_protobuf_number(&d->message, FUNCTION_SYSTEM_NAME, name);
  tg_protobuf_number(&d->message, FUNCTION_FILE, file);
  tg_protobuf_number(&d->message, FUNCTION_LINE, tg_funclabels_line(f));
  tg_protobuf_message(&d->x->out->text, FUNCTION, &d->message);
}

/* What samples by the clock stand for is no processor time. */
static const char *kind_of (const tg_Export *x, tg_PprofValue v) {
  return v == TG_PPROF_CPU && x->selection->wall ? "wall" : types[v][0];
}

/* What the values are. That which is shown at first is time. */
static void put_types (Document *d) {
  bool calls = tg_pprofstacks_tells(&d->stacks, TG_PPROF_TIME);
  for (tg_PprofValue v = 0; v < TG_PPROF_VALUES; v++) {
    if (tg_pprofstacks_tells(&d->stacks, v))
      put_type(d, SAMPLE_TYPE, kind_of(d->x, v), types[v][1]);
  }
  tg_protobuf_number(&d->x->out->text, DEFAULT_TYPE,
                     word(d, kind_of(d->x, calls ? TG_PPROF_TIME
                                                 : TG_PPROF_CPU)));
}

/* When, how long, and what is missing. */
static void put_facts (Document *d) {
  tg_Export *x = d->x;
  tg_Buf *out = &x->out->text;
  tg_protobuf_number(out, TIME_NANOS, x->wall_ns + x->start_ns);
  tg_protobuf_number(out, DURATION_NANOS, x->end_ns - x->start_ns);
  if (tg_ticks_any(x)) {
    put_type(d, PERIOD_TYPE, kind_of(x, TG_PPROF_CPU),
             types[TG_PPROF_CPU][1]);
    tg_protobuf_number(out, PERIOD, tg_ticks_period(x));
  }
  tg_buf_addstr(&d->part, x->name);
  tg_export_remarks(x, &d->part);
  tg_protobuf_number(out, COMMENT, part(d));
}

static void put_strings (Document *d) {
  for (uint32_t i = 0; i < d->strings.count; i++) {
    size_t size;
    const char *s = tg_intern_get(&d->strings, i, &size);
    tg_protobuf_bytes(&d->x->out->text, STRING, s, size);
    if (!tg_outfile_turn(d->x->out))
      return;
  }
}

/* The strings last, when all are known. */
static void put_tables (Document *d) {
  put_types(d);
  put_facts(d);
  put_mapping(d);
  for (uint32_t i = 0; i < d->locations.count; i++) {
    put_location(d, i);
    if (!tg_outfile_turn(d->x->out))
      return;
  }
  for (uint32_t i = 0; i < tg_funclabels_count(&d->stacks.labels); i++) {
    put_function(d, i);
    if (!tg_outfile_turn(d->x->out))
      return;
  }
  put_strings(d);
}

/* }================================================================== */

tg_Status tg_format_pprof (tg_Export *x) {
  Document d = {.x = x};
  word(&d, "");                 /* the first string has to be empty */
  if (x->status == TG_OK && tg_pprofstacks_read(&d.stacks, x)
      && put_samples(&d))
    put_tables(&d);
  tg_buf_free(&d.message);
  tg_buf_free(&d.part);
  tg_intern_free(&d.strings);
  tg_spots_free(&d.locations);
  tg_pprofstacks_free(&d.stacks);
  return x->status;
}
