/*
** spans.c - see spans.h. Called by formats/otlp/otlp.c, for a recording, and
** by send/livespans.c, for a program that still runs.
*/
#include "formats/otlp/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/boxnames.h"
#include "formats/otlp/openspan.h"
#include "stream/marks.h"

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
  tg_otlp_word(a, "code.function.name", tg_function_title(f));
  if (f->is_c || f->url == NULL)
    return;
  tg_otlp_word(a, "code.file.path", f->url);
  if (f->line > 0)
    tg_otlp_number(a, "code.line.number", f->line);
}

/* What the packet has, as Lua literals, in 's->text'. */
static bool take_values (tg_OtlpSpans *s, const tg_Packet *p) {
  tg_buf_clear(&s->text);
  if (s->silent || p == NULL || p->values.data == NULL)
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
static void put_attributes (tg_OtlpSpans *s, const tg_OpenSpan *o,
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

/* As the conventions have it: what was thrown, and where. */
static void put_error (tg_OtlpSpans *s, tg_OtlpSpan *out) {
  const tg_OtlpError *e = &s->error;
  if (e->message.size > 0) {
    out->message = e->message.data;
    out->message_size = e->message.size;
    tg_otlp_text(&out->error, "exception.message", out->message,
                 out->message_size);
  }
  if (e->type.size > 0)
    tg_otlp_text(&out->error, "exception.type", e->type.data, e->type.size);
  if (s->stack.size > 0)
    tg_otlp_text(&out->error, "exception.stacktrace", s->stack.data,
                 s->stack.size);
}

static void give (tg_OtlpSpans *s, const tg_OpenSpan *o, const End *end) {
  if (o->ran_ns < s->min_ns)
    return;
  bool failed = end->packet != NULL && end->packet->why == TG_WHY_EXCEPTION;
  bool valued = !failed && take_values(s, end->packet);
  tg_OtlpSpan out = {
    .at = o->at, .parent = o->parent, .start_ns = s->wall_ns + o->start_ns,
    .end_ns = s->wall_ns + end->ns, .links = o->links, .nlinks = o->nlinks,
    .dropped = o->dropped, .failed = failed, .server = o->server
  };
  tg_buf_clear(&s->name);
  tg_boxname_label(tg_functions_find(s->functions, o->function), &s->name);
  if (s->name.failed)
    fail(s);
  out.name = s->name.data;
  out.name_size = s->name.size;
  if (failed)
    put_error(s, &out);
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

/* How many open calls of that coroutine there are on top of each other. */
static uint32_t level_of (const tg_OtlpSpans *s, tg_ThreadId thread) {
  const tg_OpenSpan *top = s->nopen > 0 ? s->open[s->nopen - 1] : NULL;
  return top != NULL && top->thread == thread ? top->level + 1 : 0;
}

static uint64_t place_of (tg_ThreadId thread, uint32_t level) {
  return (uint64_t)thread << 32 | level;
}

/* The span that waits at that place; NULL: none is known. The last span of the
   list moves to its index, so that the list does not grow with the time. */
static tg_OpenSpan *take_waiting (tg_OtlpSpans *s, uint64_t place) {
  uint32_t i = tg_intmap_find(&s->places, place);
  if (i == TG_INTMAP_NONE)
    return NULL;
  tg_OpenSpan *o = s->waiting[i], *last = s->waiting[--s->nwaiting];
  tg_assert(o->place == place);
  tg_intmap_drop(&s->places, place);
  if (last != o) {
    s->waiting[i] = last;
    tg_intmap_set(&s->places, last->place, i);    /* is there: no memory */
  }
  return o;
}

/* Owns the call, also if it fails. */
static bool wait (tg_OtlpSpans *s, tg_OpenSpan *o, uint64_t place,
                  uint64_t now_ns) {
  if (!tg_grow(&s->waiting, &s->cwaiting, s->nwaiting + 1, sizeof *s->waiting)
      || !tg_intmap_set(&s->places, place, s->nwaiting)) {
    tg_openspan_free(o);
    return fail(s);
  }
  o->left_ns = now_ns;
  o->order = s->left++;
  o->place = place;
  s->waiting[s->nwaiting++] = o;
  return true;
}

/* Gives a call and, if it ended in its place, the request; frees them. */
static void give_all (tg_OtlpSpans *s, tg_OpenSpan *o, const End *end) {
  give(s, o, end);
  if (o->request != NULL) {
    o->request->ran_ns += o->ran_ns;
    give(s, o->request, end);
  }
  tg_openspan_free(o);
}

static void give_waiting (tg_OtlpSpans *s, tg_OpenSpan *o) {
  give_all(s, o, &(End){o->left_ns, NULL, false});
}

bool tg_otlpspans_drop (tg_OtlpSpans *s, tg_ThreadId thread, uint32_t level) {
  tg_OpenSpan *o = take_waiting(s, place_of(thread, level));
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

static tg_Undecided *undecided (const tg_OtlpSpans *s) {
  return (s->literal != NULL) ? s->literal->selection->undecided : NULL;
}

/* Patterns are asked once for each function. */
static bool is_request (tg_OtlpSpans *s, tg_FunctionId id) {
  if (s->requests == NULL || s->requests->count == 0)
    return false;
  uint32_t known = tg_intmap_find(&s->asked, id);
  if (known == TG_INTMAP_NONE) {
    const tg_Function *f = tg_functions_find(s->functions, id);
    known = f != NULL && tg_selection_names(s->requests, f, undecided(s));
    if (!tg_intmap_set(&s->asked, id, known))
      fail(s);
  }
  return known != 0;
}

/* A request is a trace of its own, or part of its caller's trace. */
static void begin_request (tg_OtlpSpans *s, tg_OpenSpan *o,
                           const tg_Packet *p) {
  tg_SpanContext around = {0};
  if (!tg_otlpvalues_parent(p->values, &around)) {
    around.high = new_id(s);
    around.low = new_id(s);
  }
  o->at.high = around.high;
  o->at.low = around.low;
  o->parent = around.id;
  o->server = o->within = true;
}

/* A request that has made a tail call, with that as its end if nothing else
   comes of it. */
static void hand_on (tg_OtlpSpans *s, tg_OpenSpan *o, uint64_t now_ns) {
  tg_assert(s->handed == NULL);
  o->left_ns = now_ns;
  s->handed = o;
}

/* What took its place is not seen. */
static void end_handed (tg_OtlpSpans *s) {
  tg_OpenSpan *o = s->handed;
  if (o == NULL)
    return;
  const tg_Packet p = {.why = TG_WHY_RETURN, .tail = true};
  s->handed = NULL;
  give_all(s, o, &(End){o->left_ns, &p, false});
}

/* Whether 'p' is the call that takes the place of the request: it begins in the
   same event. */
static bool takes_place (const tg_OtlpSpans *s, const tg_Packet *p) {
  return s->handed != NULL && !p->resumed && p->thread == s->handed->thread
         && p->time_ns == s->handed->left_ns;
}

static tg_OpenSpan *new_span (tg_OtlpSpans *s, const tg_Packet *p) {
  tg_OpenSpan *o = tg_calloc(1, sizeof *o);
  const tg_OpenSpan *outer = s->handed != NULL ? s->handed
                          : s->nopen > 0 ? s->open[s->nopen - 1] : NULL;
  const tg_SpanContext *around = outer != NULL ? &outer->below : &s->root;
  if (o == NULL)
    return NULL;
  o->at = (tg_SpanContext){around->high, around->low, new_id(s)};
  o->parent = around->id;
  o->within = outer != NULL && outer->within;
  if (!o->within && is_request(s, p->function))
    begin_request(s, o, p);
  o->below = o->at;
  o->start_ns = p->time_ns;
  o->function = p->function;
  o->thread = p->thread;
  o->caller = p->caller;
  o->line = p->line;
  o->request = s->handed;
  s->handed = NULL;
  if (take_values(s, p)) {
    o->arguments = tg_strdup(s->text.data, s->text.size);
    if (o->arguments == NULL)
      fail(s);
  }
  return o;
}

/* The parent of a call is the innermost open call, whatever coroutine that one
   is in. */
static bool enter (tg_OtlpSpans *s, const tg_Packet *p) {
  s->thrown = false;
  if (!takes_place(s, p))
    end_handed(s);
  uint32_t level = level_of(s, p->thread);
  tg_OpenSpan *o = p->resumed ? take_waiting(s, place_of(p->thread, level))
                           : NULL;
  if (o != NULL && level == 0 && s->nopen > 0
      && !tg_openspan_link(o, &s->open[s->nopen - 1]->at)) {
    tg_openspan_free(o);
    return fail(s);
  }
  if (o == NULL)
    o = new_span(s, p);
  if (o == NULL
      || !tg_grow(&s->open, &s->copen, s->nopen + 1, sizeof *s->open)) {
    tg_openspan_free(o);
    return fail(s);
  }
  o->entered_ns = p->time_ns;
  o->level = level;
  s->open[s->nopen++] = o;
  return s->status == TG_OK;
}

/* Takes the innermost span off, with the time since it was entered added. */
static tg_OpenSpan *pop (tg_OtlpSpans *s, uint64_t now_ns) {
  tg_OpenSpan *o = s->open[--s->nopen];
  if (now_ns > o->entered_ns)
    o->ran_ns += now_ns - o->entered_ns;
  return o;
}

/* It unwinds one call after the other, and the stack is that of the first. */
static void take_error (tg_OtlpSpans *s, const tg_Packet *p) {
  if (!s->thrown)
    tg_openspan_stack(s->open, s->nopen, s->functions, &s->stack);
  s->thrown = true;
  tg_otlpvalues_error(&s->error, s->literal, p->values, !s->silent);
  if (s->error.message.failed || s->error.type.failed || s->stack.failed)
    fail(s);
}

static bool leave (tg_OtlpSpans *s, const tg_Packet *p, bool unfinished) {
  tg_assert(s->nopen > 0);
  if (p->why == TG_WHY_EXCEPTION)
    take_error(s, p);
  else
    s->thrown = false;
  end_handed(s);
  tg_OpenSpan *o = pop(s, p->time_ns);
  if (p->why == TG_WHY_YIELD)
    return wait(s, o, place_of(p->thread, level_of(s, p->thread)),
                p->time_ns);
  if (p->tail && o->server)
    hand_on(s, o, p->time_ns);
  else if (p->tail && o->request != NULL) {
    tg_OpenSpan *request = o->request;
    request->ran_ns += o->ran_ns;
    o->request = NULL;
    hand_on(s, request, p->time_ns);
    give_all(s, o, &(End){p->time_ns, p, unfinished});
  }
  else
    give_all(s, o, &(End){p->time_ns, p, unfinished});
  return s->status == TG_OK;
}

/* What console.traceparent was called with; anything but a header ends what the
   one before has said. */
static void hang (tg_OtlpSpans *s, const tg_Packet *p) {
  tg_ValueCursor c;
  tg_Grip g = {.type = TG_NIL};
  tg_OpenSpan *o = s->nopen > 0 ? s->open[s->nopen - 1] : NULL;
  if (o == NULL)
    return;
  tg_values_open(&c, p->values);
  if (tg_values_var(&c) > 0)
    tg_values_grip(&c, &g);
  if (g.type != TG_STRING
      || !tg_traceparent_read(g.u.s.data, g.u.s.size, &o->below))
    o->below = o->at;
}

bool tg_otlpspans_add (tg_OtlpSpans *s, const tg_Packet *p,
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
  const tg_OpenSpan *x = *(tg_OpenSpan *const *)a;
  const tg_OpenSpan *y = *(tg_OpenSpan *const *)b;
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
  if (s->handed != NULL) {
    end_handed(s);
    return s->status == TG_OK;
  }
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
    tg_openspan_free(s->open[i]);
  for (uint32_t i = 0; i < s->nwaiting; i++)
    tg_openspan_free(s->waiting[i]);
  tg_openspan_free(s->handed);
  tg_free(s->open);
  tg_free(s->waiting);
  tg_intmap_free(&s->places);
  tg_intmap_free(&s->asked);
  tg_otlpvalues_free(&s->error);
  tg_buf_free(&s->stack);
  tg_buf_free(&s->text);
  tg_buf_free(&s->name);
}
