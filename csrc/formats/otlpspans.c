/*
** otlpspans.c - see otlpspans.h. Called by formats/otlp.c, for a recording, and
** by client/livespans.c, for a program that still runs.
*/
#include "formats/otlpspans.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/boxnames.h"
#include "stream/marks.h"

#define LINKS 128u              /* of a span: OpenTelemetry's own limit */

/* A call that goes on. */
typedef struct tg_OpenSpan {
  tg_SpanContext at;
  uint64_t parent;              /* 0: none */
  tg_SpanContext below;         /* of calls that begin in it: 'at', or what a
                                   marker has said */
  uint64_t start_ns;
  uint64_t entered_ns;          /* the same, or when it was resumed */
  uint64_t ran_ns;              /* before that */
  uint64_t left_ns;             /* of one that waits, and... */
  uint64_t order;               /* ...how many waited before it */
  uint64_t place;               /* its key while it waits */
  tg_FunctionId function;
  tg_ThreadId thread;
  char *arguments;              /* owns; NULL: none */
  tg_SpanContext *links;        /* owns; spans that resumed it again */
  uint32_t nlinks, clinks;
  uint32_t dropped;             /* links beyond the limit */
} OpenSpan;

/* How a span ends. */
typedef struct End {
  uint64_t ns;
  const tg_Packet *packet;      /* its exit; NULL: it waits, at the end */
  bool unfinished;
} End;

static bool fail (tg_OtlpSpans *s) {
  if (s->status == TG_OK)
    s->status = TG_ERR_MEMORY;
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
static uint64_t new_id (tg_OtlpSpans *s) {
  uint64_t id;
  do {
    id = scatter(s->seed ^ scatter(++s->made));
  } while (id == 0);
  return id;
}

void tg_otlpspans_begin (tg_OtlpSpans *s, uint32_t pid,
                         const tg_SpanContext *parent) {
  s->seed = scatter(s->wall_ns) ^ pid;
  s->root.high = new_id(s);
  s->root.low = new_id(s);
  if (parent != NULL)
    s->root = *parent;
}

/* }================================================================== */

/*
** {==================================================================
** A span that has ended
** ===================================================================
*/

static void put_function (tg_OtlpAttributes *a, const tg_Function *f) {
  if (f == NULL)
    return;
  tg_otlp_word(a, "code.function.name", f->name);
  if (f->is_c || f->url == NULL)
    return;
  tg_otlp_word(a, "code.file.path", f->url);
  if (f->line > 0)
    tg_otlp_number(a, "code.line.number", f->line);
}

/* What the packet has, as Lua literals, in 's->text'. */
static bool take_values (tg_OtlpSpans *s, const tg_Packet *p) {
  tg_buf_clear(&s->text);
  if (p == NULL || p->values.data == NULL)
    return false;
  const tg_Function *params = p->why == TG_WHY_ENTER
                              ? tg_functions_find(s->functions, p->function)
                              : NULL;
  tg_lualiteral_list(s->literal, &s->text, p->values, params);
  if (s->text.failed || s->literal->failed)
    fail(s);
  return true;
}

/* The packet's values, if it has any, are in 's->text' by now. */
static void put_attributes (tg_OtlpSpans *s, const OpenSpan *o,
                            const End *end, tg_OtlpSpan *out, bool valued) {
  tg_OtlpAttributes *a = &out->attributes;
  const tg_Packet *p = end->packet;
  put_function(a, tg_functions_find(s->functions, o->function));
  tg_otlp_number(a, "thread.id", o->thread);
  tg_otlp_word(a, "lua.arguments", o->arguments);
  if (valued && p->why == TG_WHY_RETURN)
    tg_otlp_text(a, "lua.results", s->text.data, s->text.size);
  if (p != NULL && p->tail)
    tg_otlp_true(a, "lua.tail_call");
  if (p == NULL)
    tg_otlp_true(a, "lua.suspended");
  else if (end->unfinished)
    tg_otlp_true(a, "lua.unfinished");
}

static void give (tg_OtlpSpans *s, const OpenSpan *o, const End *end) {
  if (o->ran_ns < s->min_ns)
    return;
  bool valued = take_values(s, end->packet);
  tg_OtlpSpan out = {
    .at = o->at, .parent = o->parent, .start_ns = s->wall_ns + o->start_ns,
    .end_ns = s->wall_ns + end->ns, .links = o->links, .nlinks = o->nlinks,
    .dropped = o->dropped,
    .failed = end->packet != NULL && end->packet->why == TG_WHY_EXCEPTION
  };
  tg_buf_clear(&s->name);
  tg_boxname_label(tg_functions_find(s->functions, o->function), &s->name);
  if (s->name.failed)
    fail(s);
  out.name = s->name.data;
  out.name_size = s->name.size;
  if (out.failed && valued) {
    out.message = s->text.data;
    out.message_size = s->text.size;
  }
  put_attributes(s, o, end, &out, valued);
  tg_otlpbatch_add(s->batch, &out);
  s->given++;
}

void tg_otlpspans_about (tg_OtlpAttributes *resource, uint32_t pid,
                         const char *lua) {
  bool named = lua != NULL && strncmp(lua, "Lua ", 4) == 0;
  if (pid != 0 && !tg_otlp_has(resource, "process.pid"))
    tg_otlp_number(resource, "process.pid", pid);
  tg_otlp_known(resource, "process.runtime.name", "lua");
  tg_otlp_known(resource, "process.runtime.version", named ? lua + 4 : lua);
  tg_otlp_known(resource, "telemetry.sdk.name", "tracegrip");
  tg_otlp_known(resource, "telemetry.sdk.language", "lua");
  tg_otlp_known(resource, "telemetry.sdk.version", TG_VERSION);
}

/* }================================================================== */

/*
** {==================================================================
** Calls that wait
** ===================================================================
*/

static void free_span (OpenSpan *o) {
  if (o == NULL)
    return;
  tg_free(o->arguments);
  tg_free(o->links);
  tg_free(o);
}

/* How many open calls of that coroutine there are on top of each other. */
static uint32_t level_of (const tg_OtlpSpans *s, tg_ThreadId thread) {
  uint32_t level = 0;
  while (level < s->nopen && s->open[s->nopen - 1 - level]->thread == thread)
    level++;
  return level;
}

static uint64_t place_of (tg_ThreadId thread, uint32_t level) {
  return (uint64_t)thread << 32 | level;
}

/* The one that waits there; NULL: it is not known. The last one of the list
   takes its place, so that the list does not grow with the time. */
static OpenSpan *take_waiting (tg_OtlpSpans *s, uint64_t place) {
  uint32_t i = tg_intmap_find(&s->places, place);
  if (i == TG_INTMAP_NONE)
    return NULL;
  OpenSpan *o = s->waiting[i], *last = s->waiting[--s->nwaiting];
  tg_assert(o->place == place);
  tg_intmap_drop(&s->places, place);
  if (last != o) {
    s->waiting[i] = last;
    tg_intmap_set(&s->places, last->place, i);    /* is there: no memory */
  }
  return o;
}

/* Owns the call, also if it fails. */
static bool wait (tg_OtlpSpans *s, OpenSpan *o, uint64_t place,
                  uint64_t now_ns) {
  if (!tg_grow(&s->waiting, &s->cwaiting, s->nwaiting + 1, sizeof *s->waiting)
      || !tg_intmap_set(&s->places, place, s->nwaiting)) {
    free_span(o);
    return fail(s);
  }
  o->left_ns = now_ns;
  o->order = s->left++;
  o->place = place;
  s->waiting[s->nwaiting++] = o;
  return true;
}

static void give_waiting (tg_OtlpSpans *s, OpenSpan *o) {
  give(s, o, &(End){o->left_ns, NULL, false});
  free_span(o);
}

bool tg_otlpspans_drop (tg_OtlpSpans *s, tg_ThreadId thread, uint32_t level) {
  OpenSpan *o = take_waiting(s, place_of(thread, level));
  if (o == NULL)
    return false;
  give_waiting(s, o);
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Calls that are open
** ===================================================================
*/

static bool link_span (tg_OtlpSpans *s, OpenSpan *o,
                       const tg_SpanContext *to) {
  if (o->nlinks == LINKS) {
    o->dropped++;
    return true;
  }
  if (!tg_grow(&o->links, &o->clinks, o->nlinks + 1, sizeof *o->links))
    return fail(s);
  o->links[o->nlinks++] = *to;
  return true;
}

static OpenSpan *new_span (tg_OtlpSpans *s, const tg_Packet *p) {
  OpenSpan *o = tg_calloc(1, sizeof *o);
  const tg_SpanContext *around = s->nopen > 0 ? &s->open[s->nopen - 1]->below
                                              : &s->root;
  if (o == NULL)
    return NULL;
  o->at = (tg_SpanContext){around->high, around->low, new_id(s)};
  o->below = o->at;
  o->parent = around->id;
  o->start_ns = p->time_ns;
  o->function = p->function;
  o->thread = p->thread;
  if (take_values(s, p)) {
    o->arguments = tg_strdup(s->text.data, s->text.size);
    if (o->arguments == NULL)
      fail(s);
  }
  return o;
}

/* The call around it is the innermost one, whatever coroutine that is in. */
static bool enter (tg_OtlpSpans *s, const tg_Packet *p) {
  uint32_t level = level_of(s, p->thread);
  OpenSpan *o = p->resumed ? take_waiting(s, place_of(p->thread, level))
                           : NULL;
  if (o != NULL && level == 0 && s->nopen > 0
      && !link_span(s, o, &s->open[s->nopen - 1]->at)) {
    free_span(o);
    return false;
  }
  if (o == NULL)
    o = new_span(s, p);
  if (o == NULL
      || !tg_grow(&s->open, &s->copen, s->nopen + 1, sizeof *s->open)) {
    free_span(o);
    return fail(s);
  }
  o->entered_ns = p->time_ns;
  s->open[s->nopen++] = o;
  return s->status == TG_OK;
}

/* Off the open ones, after all that it ran. */
static OpenSpan *pop (tg_OtlpSpans *s, uint64_t now_ns) {
  OpenSpan *o = s->open[--s->nopen];
  if (now_ns > o->entered_ns)
    o->ran_ns += now_ns - o->entered_ns;
  return o;
}

static bool leave (tg_OtlpSpans *s, const tg_Packet *p, bool unfinished) {
  tg_assert(s->nopen > 0);
  OpenSpan *o = pop(s, p->time_ns);
  if (p->why == TG_WHY_YIELD)
    return wait(s, o, place_of(p->thread, level_of(s, p->thread)),
                p->time_ns);
  give(s, o, &(End){p->time_ns, p, unfinished});
  free_span(o);
  return s->status == TG_OK;
}

/* What console.traceparent was called with; anything but a header ends what the
   one before has said. */
static void hang (tg_OtlpSpans *s, const tg_Packet *p) {
  tg_ValueCursor c;
  tg_Grip g = {.type = TG_NIL};
  OpenSpan *o = s->nopen > 0 ? s->open[s->nopen - 1] : NULL;
  if (o == NULL)
    return;
  tg_values_open(&c, p->values);
  if (tg_values_var(&c) > 0)
    tg_values_grip(&c, &g);
  if (g.type != TG_STRING
      || !tg_traceparent_read(g.u.s.data, g.u.s.size, &o->below))
    o->below = o->at;
}

bool tg_otlpspans_take (tg_OtlpSpans *s, const tg_Packet *p,
                        bool unfinished) {
  if (p->why == TG_WHY_MARK && p->mark == TG_MARK_TRACEPARENT)
    hang(s, p);
  if (tg_packet_is_moment(p))
    return s->status == TG_OK;
  return p->why == TG_WHY_ENTER ? enter(s, p) : leave(s, p, unfinished);
}

/* }================================================================== */

/* The latest first, so that the last of the list is the one that waits
   longest. */
static int by_order (const void *a, const void *b) {
  const OpenSpan *x = *(OpenSpan *const *)a, *y = *(OpenSpan *const *)b;
  return (x->order < y->order) - (x->order > y->order);
}

/* Of suspended coroutines nothing is asked by place any more. */
static void sort_waiting (tg_OtlpSpans *s) {
  if (s->nwaiting > 1)
    qsort(s->waiting, s->nwaiting, sizeof *s->waiting, by_order);
  tg_intmap_free(&s->places);
  s->places = (tg_IntMap){0};
}

bool tg_otlpspans_close (tg_OtlpSpans *s, uint64_t now_ns) {
  if (s->status != TG_OK)
    return false;
  if (s->nopen > 0) {
    tg_Packet p = {.why = TG_WHY_TERMINATED, .time_ns = now_ns};
    return leave(s, &p, true);
  }
  if (s->places.count > 0)
    sort_waiting(s);
  if (s->nwaiting == 0)
    return false;
  give_waiting(s, s->waiting[--s->nwaiting]);
  return s->status == TG_OK;
}

void tg_otlpspans_free (tg_OtlpSpans *s) {
  for (uint32_t i = 0; i < s->nopen; i++)
    free_span(s->open[i]);
  for (uint32_t i = 0; i < s->nwaiting; i++)
    free_span(s->waiting[i]);
  tg_free(s->open);
  tg_free(s->waiting);
  tg_intmap_free(&s->places);
  tg_buf_free(&s->text);
  tg_buf_free(&s->name);
}
