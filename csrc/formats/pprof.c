/*
** pprof.c - stacks with calls and time, as pprof and the stores of continuous
** profiles read them (profile.proto of github.com/google/pprof).
**
** A sample here is a distinct stack: how often it was called, and the time on
** top of it; pprof adds up what is below a function itself. A location is a
** function with a line: of the innermost frame its first line, of each other
** one the line of the call that is open in it. So a stack is known by
** functions and lines of calls, and a node of the tree is a callee with the
** line that it was called from. Coroutines that begin with the same function
** are one, and are told apart by the label "coroutine".
**
** Strings, functions and locations are numbered as they are met, and come after
** the samples. Memory: the distinct stacks. Without it the export's status says
** so.
*/
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "base/intern.h"
#include "base/intmap.h"
#include "export/boxnames.h"
#include "formats/formats.h"
#include "reader/calltree.h"
#include "reader/funclabels.h"
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

/* A node's row: a callee and the line of its call; that of a coroutine's root,
   its body's label beyond this. */
#define BODIES UINT32_C(0x80000000)
#define MAIN UINT32_MAX

typedef struct Pair {           /* a label and a line, numbered */
  uint32_t label, line;
} Pair;

typedef struct Pairs {
  Pair *list;                   /* owns */
  uint32_t count, capacity;
  tg_IntMap numbers;            /* owns */
} Pairs;

typedef struct Document {
  tg_Export *x;
  tg_FuncLabels labels;         /* owns */
  tg_CallTree tree;             /* owns */
  Pairs callees, locations;     /* own */
  tg_Intern strings;            /* owns */
  tg_IntMap yielded;            /* owns; nodes of frames that wait, by coroutine
                                   and depth in it */
  uint32_t *open;               /* owns; nodes of the open frames */
  uint32_t nopen, copen;
  uint64_t now_ns;              /* of the last packet */
  tg_Buf message, part;         /* own; scratch */
} Document;

static bool fail (Document *d) {
  if (d->x->status == TG_OK)
    d->x->status = TG_ERR_MEMORY;
  return false;
}

/* The number of a pair, from 0; TG_INTMAP_NONE without memory. */
static uint32_t number_of (Pairs *p, uint32_t label, uint32_t line) {
  uint64_t key = (uint64_t)label << 32 | line;
  uint32_t n = tg_intmap_find(&p->numbers, key);
  if (n != TG_INTMAP_NONE)
    return n;
  if (!tg_grow(&p->list, &p->capacity, p->count + 1, sizeof *p->list)
      || !tg_intmap_set(&p->numbers, key, p->count))
    return TG_INTMAP_NONE;
  p->list[p->count] = (Pair){label, line};
  return p->count++;
}

static void free_pairs (Pairs *p) {
  tg_free(p->list);
  tg_intmap_free(&p->numbers);
}

/*
** {==================================================================
** Calls and time by stack
** ===================================================================
*/

/* The root of the packet's coroutine; 0 without memory. What a coroutine begins
   with is told when it is entered first. */
static uint32_t root_of (Document *d, const tg_Packet *p) {
  if (p->thread == TG_EXPORT_MAIN)
    return tg_calltree_child(&d->tree, 0, MAIN);
  tg_FunctionId body = p->body != 0 ? p->body : p->function;
  uint32_t label = tg_funclabels_of(&d->labels, body);
  return label < MAIN - BODIES
         ? tg_calltree_child(&d->tree, 0, BODIES + label) : 0;
}

/* How many frames of the innermost frame's coroutine are open, that one not
   counted. */
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

/* Where a frame stood that goes on after a yield: its line is not told again.
   0: it is new here. */
static uint32_t take_yielded (Document *d, tg_ThreadId thread,
                              uint32_t level) {
  uint32_t node = tg_intmap_find(&d->yielded, place_of(thread, level));
  if (node == TG_INTMAP_NONE)
    return 0;
  tg_intmap_drop(&d->yielded, place_of(thread, level));
  return node;
}

/* The node of a frame that is entered; 0 without memory. */
static uint32_t node_of (Document *d, const tg_Packet *p) {
  uint32_t n;
  const tg_ExportFrame *frames = tg_export_frames(d->x, &n);
  uint32_t level = level_of(frames, n);
  uint32_t node = p->resumed ? take_yielded(d, p->thread, level) : 0;
  if (node != 0)
    return node;
  uint32_t parent = level > 0 ? d->open[n - 2] : root_of(d, p);
  uint32_t label = tg_funclabels_of(&d->labels, p->function);
  if (parent == 0 || label == TG_INTMAP_NONE)
    return 0;
  uint32_t row = number_of(&d->callees, label, p->line);
  return row < BODIES ? tg_calltree_child(&d->tree, parent, row) : 0;
}

static bool enter (Document *d, const tg_Packet *p) {
  uint32_t node = node_of(d, p);
  if (node == 0
      || !tg_grow(&d->open, &d->copen, d->nopen + 1, sizeof *d->open))
    return fail(d);
  d->tree.nodes[node].tally.calls += !p->resumed && !p->sampled;
  d->open[d->nopen++] = node;
  return true;
}

/* The frame is not among the open ones any more; those of its coroutine that
   are left are below it. */
static bool leave (Document *d, const tg_Packet *p) {
  uint32_t n, level = 0;
  const tg_ExportFrame *frames = tg_export_frames(d->x, &n);
  tg_assert(d->nopen == n + 1);
  uint32_t node = d->open[--d->nopen];
  if (p->why != TG_WHY_YIELD)
    return true;
  if (n > 0 && frames[n - 1].thread == p->thread)
    level = level_of(frames, n) + 1;
  return tg_intmap_set(&d->yielded, place_of(p->thread, level), node)
         || fail(d);
}

static bool add_up (Document *d) {
  tg_Packet p;
  while (tg_export_next(d->x, &p)) {
    tg_assert(p.time_ns >= d->now_ns);
    if (d->nopen > 0)
      d->tree.nodes[d->open[d->nopen - 1]].tally.self_ns
          += p.time_ns - d->now_ns;
    d->now_ns = p.time_ns;
    if (!(p.why == TG_WHY_ENTER ? enter(d, &p) : leave(d, &p)))
      return false;
  }
  return d->x->status == TG_OK;
}

/* }================================================================== */

/*
** {==================================================================
** Samples
** ===================================================================
*/

/* A string by its number, which protobuf leaves out if it is 0: the empty one.
   Without memory the document fails. */
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
  if (row == MAIN)
    return word(d, "main");
  tg_boxname_body(tg_funclabels_function(&d->labels, row - BODIES), false,
                  &d->part);
  return part(d);
}

/* The lines of a stack from the innermost frame out. 'line' is where a frame
   is: at the call of the one before; of the innermost nothing is known but
   where it begins. Returns the root. */
static uint32_t put_locations (Document *d, uint32_t node) {
  uint32_t line = 0;
  while (d->tree.nodes[node].parent != 0) {
    const Pair *callee = &d->callees.list[d->tree.nodes[node].row];
    const tg_Function *f = tg_funclabels_function(&d->labels, callee->label);
    if (line == 0)
      line = tg_funclabels_line(f);
    uint32_t n = number_of(&d->locations, callee->label, line);
    if (n == TG_INTMAP_NONE)
      fail(d);
    tg_protobuf_varint(&d->part, n + UINT64_C(1));
    line = callee->line;
    node = d->tree.nodes[node].parent;
  }
  tg_protobuf_message(&d->message, SAMPLE_LOCATIONS, &d->part);
  return node;
}

static void put_sample (Document *d, uint32_t node) {
  const tg_Tally *t = &d->tree.nodes[node].tally;
  uint32_t root = put_locations(d, node);
  tg_protobuf_varint(&d->part, t->calls);
  tg_protobuf_varint(&d->part, t->self_ns);
  tg_protobuf_message(&d->message, SAMPLE_VALUES, &d->part);
  uint32_t name = coroutine_name(d, d->tree.nodes[root].row);
  tg_protobuf_number(&d->part, LABEL_KEY, word(d, "coroutine"));
  tg_protobuf_number(&d->part, LABEL_STRING, name);
  tg_protobuf_message(&d->message, SAMPLE_LABEL, &d->part);
  tg_protobuf_message(&d->x->out->text, SAMPLE, &d->message);
}

/* False when the output has failed. Roots are no stacks. */
static bool put_samples (Document *d) {
  for (uint32_t i = 1; i < d->tree.count; i++) {
    const tg_Node *n = &d->tree.nodes[i];
    if (n->parent == 0 || (n->tally.calls == 0 && n->tally.self_ns == 0))
      continue;
    put_sample(d, i);
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
  const Pair *at = &d->locations.list[i];
  tg_protobuf_number(&d->message, LOCATION_ID, i + UINT64_C(1));
  tg_protobuf_number(&d->message, LOCATION_MAPPING, 1);
  tg_protobuf_number(&d->part, LINE_FUNCTION, at->label + UINT64_C(1));
  tg_protobuf_number(&d->part, LINE_NUMBER, at->line);
  tg_protobuf_message(&d->message, LOCATION_LINE, &d->part);
  tg_protobuf_message(&d->x->out->text, LOCATION, &d->message);
}

static void put_function (Document *d, uint32_t label) {
  const tg_Function *f = tg_funclabels_function(&d->labels, label);
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

/* When, how long, and what is missing. */
static void put_facts (Document *d) {
  tg_Export *x = d->x;
  tg_Buf *out = &x->out->text;
  put_type(d, SAMPLE_TYPE, "calls", "count");
  put_type(d, SAMPLE_TYPE, "time", "nanoseconds");
  tg_protobuf_number(out, DEFAULT_TYPE, word(d, "time"));
  tg_protobuf_number(out, TIME_NANOS, x->wall_ns + x->start_ns);
  tg_protobuf_number(out, DURATION_NANOS, x->end_ns - x->start_ns);
  if (x->selection->sample > 0) {
    put_type(d, PERIOD_TYPE, "cpu", "nanoseconds");
    tg_protobuf_number(out, PERIOD,
                       UINT64_C(1000000000) / x->selection->sample);
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
  put_facts(d);
  put_mapping(d);
  for (uint32_t i = 0; i < d->locations.count; i++) {
    put_location(d, i);
    if (!tg_outfile_turn(d->x->out))
      return;
  }
  for (uint32_t i = 0; i < tg_funclabels_count(&d->labels); i++) {
    put_function(d, i);
    if (!tg_outfile_turn(d->x->out))
      return;
  }
  put_strings(d);
}

/* }================================================================== */

static void free_document (Document *d) {
  tg_buf_free(&d->message);
  tg_buf_free(&d->part);
  tg_free(d->open);
  tg_intmap_free(&d->yielded);
  tg_intern_free(&d->strings);
  free_pairs(&d->callees);
  free_pairs(&d->locations);
  tg_calltree_free(&d->tree);
  tg_funclabels_free(&d->labels);
}

tg_Status tg_format_pprof (tg_Export *x) {
  Document d = {.x = x};
  tg_funclabels_init(&d.labels, x->stream->functions);
  if (!tg_calltree_init(&d.tree))
    fail(&d);
  word(&d, "");                 /* the first string has to be empty */
  if (x->status == TG_OK && add_up(&d) && put_samples(&d))
    put_tables(&d);
  free_document(&d);
  return x->status;
}
