/*
** emit.c - events that are rare, and of calls and returns what is. Called in
** the hook. An event for which there is no room, or no memory, is not written:
** its packets are counted all the same, and so as lost.
**
** An event is written where it will stay, in the chunk, and is nobody's before
** it is committed: what a list turns out to take is no reason to write it
** elsewhere first. The frames are as they are after the event, but for those
** that its own text speaks of: a chunk that begins with it lists the chain as
** it is then (context.h).
*/
#include "capture/crosscheck.h"
#include "capture/few.h"
#include "capture/varargs.h"
#include "capture/veil.h"
#include "chain/emitcall.h"
#include "stream/marks.h"

#define ROOM_MAX ((size_t)64 << 20) /* more than any packet's values take */

/* The next size to try when values did not fit: mostly a chunk is nearly full,
   and the next one will do, which may be a small one. From half a chunk on they
   get a chunk of their own, as large as they need. */
static size_t more_room (size_t need) {
  size_t half = TG_CHUNK_SIZE / 2, some = TG_CHUNK_SIZE / 32;
  return (need < some) ? some : (need < half) ? half : need * 4;
}

/* Writes the event that 'write' puts at 'p' (it returns the end, or NULL if
   there is too little room), if need be again with more room. What a list takes
   is known only when it has been written: to measure it first would double the
   cost of all for the sake of few. */
static void emit (tg_Session *s, uint64_t now,
                  uint8_t *(*write) (void *event, uint8_t *p), void *event) {
  tg_Writer *r = &s->writer;
  for (size_t need = CALL_ROOM; need < ROOM_MAX; need = more_room(need)) {
    uint8_t *p = tg_writer_begin(r, need, now);
    if (p == NULL)
      return;
    uint64_t last = r->last;
    p = write(event, p);
    if (p != NULL) {
      tg_writer_end(r, p);
      return;
    }
    r->last = last;             /* its head was not written after all */
  }
}

/* ---- values ---- */

/* Values that move at event 'ar', by the public API. */
static TG_NOINLINE void ask_results (lua_State *L, lua_Debug *ar,
                                     tg_ValueList *list) {
  lua_getinfo(L, "r", ar);
  list->first = ar->ftransfer;
  list->count = ar->ntransfer;
}

/*
** Where the values of event 'ar' stand. Results of C functions may start at an
** index beyond 65535, which the interpreter tells modulo 65536: its fields for
** that are unsigned shorts (lua_Debug, and transferinfo of lstate.h in 5.4). A
** C function's results are the last values on its stack, so what is missing up
** to the top tells by how much.
*/
static void results (const tg_Session *s, lua_State *L, lua_Debug *ar,
                     bool c, tg_ValueList *list) {
  if (s->host.direct) {
    list->count = tg_direct_moved(L, ar->i_ci, &list->first);
    tg_crosscheck_results(L, ar, list);
  }
  else
    ask_results(L, ar, list);
  if (tg_unlikely(c && list->count + list->first - 1 != lua_gettop(L)
                  && lua_gettop(L) > 65535)) {
    int extra = lua_gettop(L) - (list->count + list->first - 1);
    if (extra > 0 && extra % 65536 == 0)
      list->count += extra;
  }
}

/* Writes the results of the frame that returns; NULL if the room is too
   small. No results, the usual case, are one byte. */
uint8_t *tg_emit_results (tg_Session *s, lua_State *L, lua_Debug *ar,
                          uint32_t what, uint8_t *p) {
  tg_ValueList list = {0};
  results(s, L, ar, (what & TG_FR_C) != 0, &list);
  if (list.count == 0)
    return tg_emit_put_nothing(p);
  if (tg_unlikely(tg_role_bits(what) == TG_ROLE_KEYED)) {
    tg_veil_results(s, L, list.first, list.count, what);
    list.veil = &s->capture.veil;
  }
  return tg_capture_list(s, L, &list, p, s->writer.lim);
}

/* Extra arguments that are in a table are few, and only asked about. */
static void add_extra (const tg_Session *s, lua_State *L, lua_Debug *ar,
                       tg_ValueList *list) {
  const void *frame = ar->i_ci;
  list->asked = !s->host.direct
                || !tg_direct_hides_extra(
                     tg_function_proto(tg_frame_function(frame)));
  list->varargs = list->asked ? tg_varargs_count(L, ar, list->count)
                              : tg_frame_extra(frame);
}

/* At the call's event, when arguments stand where parameters will. A C function
   has as many as there are values on its stack, less the function itself, which
   was pushed where the public API was asked. */
tg_ValueList tg_emit_argument_list (const tg_Coroutine *t, lua_Debug *ar,
                                    const tg_Closure *k) {
  const tg_Session *s = t->session;
  tg_ValueList list = {.first = 1, .ar = ar};
  if (!(k->what & TG_FR_C))
    list.count = k->nparams;
  else
    list.count = lua_gettop(t->L) - !s->host.direct;    /* the function is on
                                                           top */
  if (k->what & TG_FR_VARARG)
    add_extra(s, t->L, ar, &list);
  if (k->what & TG_FR_SECRETS)
    list.veil = &s->capture.veil;
  return list;
}

uint8_t *tg_emit_arguments (tg_Call c, uint8_t *p) {
  tg_Session *s = c.t->session;
  tg_ValueList list = tg_emit_argument_list(c.t, c.ar, c.callee);
  return tg_capture_list(s, c.L, &list, p, s->writer.lim);
}

/* ---- calls and returns ---- */

/* The last one is remembered: a main chunk that is older than the trace makes
   all calls of a loop from the same frame. Addresses of frames are used again;
   when an older one returns, what is remembered is forgotten (settle_return).
   */
tg_FunctionId tg_emit_base_function (tg_Call c) {
  tg_Coroutine *t = c.t;
  lua_Debug up;
  up.i_ci = (struct CallInfo *)(uintptr_t)c.caller;
  if (t->base_ci != c.caller) {
    t->base_fn = tg_catalog_frame(t->session, c.L, &up);
    t->base_ci = c.caller;
  }
  return t->base_fn;
}

/* Calls and returns as 'emit' wants them. They were tried the usual way before,
   which had found that plain values are not all there is. */
static uint8_t *write_call (void *event, uint8_t *p) {
  const tg_Call *c = event;
  bool direct = c->t->session->host.direct;
  bool values = tg_emit_wants_arguments(c);
  p = direct ? tg_emit_put_call(c, p, values, true)
             : tg_emit_put_call(c, p, values, false);
  return values ? tg_emit_arguments(*c, p) : p;
}

void tg_emit_call_again (tg_Call c) {
  emit(c.t->session, c.now, write_call, &c);
}

/* What a return is told by, its frame having been popped. These structures are
   what 'write' gets of an event: it may be called more than once, with ever
   more room, and changes nothing but bytes. */
typedef struct Return {
  tg_Session *s;
  lua_State *L;
  lua_Debug *ar;
  uint32_t what;
  uint64_t now;
} Return;

static uint8_t *write_return (void *event, uint8_t *p) {
  const Return *e = event;
  bool values = (e->s->selection.types & TG_TYPE_RETURN) != 0;
  p = tg_writer_head(&e->s->writer, p,
                     TG_EV_RETURN | (values ? TG_EVF_VALUES : 0u), e->now);
  return values ? tg_emit_results(e->s, e->L, e->ar, e->what, p) : p;
}

/* 'again': the usual way (emitcall.h) has tried, and written nothing. */
void tg_emit_return_again (tg_Session *s, lua_State *L, lua_Debug *ar,
                           uint32_t what, uint64_t now) {
  Return e = {s, L, ar, what, now};
  emit(s, now, write_return, &e);
}

/* The arguments of a call, behind their size, a var: as of a quick call
   (hook/quick.c). NULL: they are more than a few. */
static uint8_t *put_few_arguments (const tg_Call *c, uint8_t *p) {
  const tg_Coroutine *t = c->t;
  const void *frame = c->ar->i_ci;
  int n = tg_emit_count_arguments(t, frame, c->callee);
  if (!tg_capture_are_few(t->session, n, p))
    return NULL;
  const void *base = tg_frame_slot(frame);
  uint8_t *end = tg_capture_plain(t->session, base, 1, n, p + 1);
  if (end == NULL || end - p - 1 > (ptrdiff_t)TG_SHORT_LIST)
    return tg_capture_few(t->session, t->L, base, 1, n, 0, p);
  *p = (uint8_t)(end - p - 1);
  return end;
}

/* The line that the call is of; NULL: it does not fit, or its function has to
   be told, too. */
static uint8_t *put_short_site (const tg_Call *c, uint8_t *p,
                                uint32_t *flags) {
  const tg_Coroutine *t = c->t;
  if ((t->session->selection.types & TG_TYPE_CALLSITE) == 0
      || c->caller == NULL)
    return p;
  int line = tg_emit_line(c->L, c->caller, true);
  if (line < 0)
    return p;
  const tg_Frame *caller = t->n >= 2 ? &t->frames[t->n - 2] : NULL;
  if (line > (int)TG_SHORT_MAX || caller == NULL || caller->ci != c->caller
      || !tg_emit_described(t, caller, t->session->writer.epoch))
    return NULL;
  *flags |= TG_EVF_SITE;
  return tg_put16(p, (uint32_t)line);
}

uint8_t *tg_emit_tail (const tg_Call *c, uint8_t *head, bool values) {
  tg_Writer *r = &c->t->session->writer;
  uint32_t id = c->callee->what & TG_FR_ID;
  uint32_t flags = TG_EVF_TAIL | (values ? TG_EVF_VALUES : 0u);
  if (TG_CROSSCHECKED || id > TG_SHORT_MAX || c->now - r->last > TG_SHORT_MAX)
    return NULL;
  uint8_t *p = put_short_site(c, tg_put16(head + TG_SHORT_HEAD, id), &flags);
  if (p != NULL && values)
    p = put_few_arguments(c, p);
  if (p == NULL)
    return NULL;
  tg_writer_short_head(r, head, TG_EV_NONE | flags, c->now);
  tg_coroutine_top(c->t)->epoch = r->epoch;
  return p;
}

/* The frame that made a tail call of a hidden function is over: the callee took
   its place, and nothing will tell of its return. */
void tg_emit_tail_exit (tg_Session *s, uint64_t now) {
  tg_emit_plain(s, TG_EV_RETURN | TG_EVF_TAIL, 1, now);
}

/* ---- errors and coroutines ---- */

/* The thrown value at 'p', NULL if the room is too small. As bytes that were
   kept when it was on its way; or as it stands, of a message perhaps without
   the position that coroutine.wrap has put before it (auxwrap in lcorolib.c).
   */
static uint8_t *put_thrown (tg_Session *s, const tg_ErrorValue *v, uint8_t *p) {
  tg_Writer *r = &s->writer;
  if (v->stash.data != NULL) {
    if ((size_t)(r->lim - p) < v->stash.size)
      return NULL;
    memcpy(p, v->stash.data, v->stash.size);
    return p + v->stash.size;
  }
  if (v->skip > 0) {
    size_t size;
    const char *text = lua_tolstring(v->L, v->index, &size);
    return tg_capture_text(s, text + v->skip, size - v->skip, p, r->lim);
  }
  tg_ValueList list = {.first = v->index, .count = 1};
  return tg_capture_list(s, v->L, &list, p, r->lim);
}

typedef struct Throw {
  tg_Session *s;
  uint32_t count;
  const tg_ErrorValue *value;
  uint64_t now;
} Throw;

static uint8_t *write_throw (void *event, uint8_t *p) {
  const Throw *e = event;
  bool values = e->value->index != 0 || e->value->stash.data != NULL;
  p = tg_writer_head(&e->s->writer, p,
                     TG_EV_THROW | (values ? TG_EVF_VALUES : 0u), e->now);
  p = tg_put32(p, e->count);
  return values ? put_thrown(e->s, e->value, p) : p;
}

/* One event for all frames that an error has unwound at once. */
void tg_emit_throw (tg_Session *s, uint32_t count, const tg_ErrorValue *value,
                    uint64_t now) {
  Throw e = {s, count, value, now};
  emit(s, now, write_throw, &e);
  s->writer.packets += count;
}

typedef struct Yield {
  tg_Session *s;
  lua_State *L;
  const tg_ValueList *values;   /* NULL: not known here */
  uint64_t now;
} Yield;

/* Without values the arguments of coroutine.yield are meant, which are in the
   stream with its CALL (event.h). */
static uint8_t *write_yield (void *event, uint8_t *p) {
  const Yield *e = event;
  bool known = e->values != NULL
               && (e->s->selection.types & TG_TYPE_YIELD) != 0;
  p = tg_writer_head(&e->s->writer, p,
                     TG_EV_YIELD | (known ? TG_EVF_VALUES : 0u), e->now);
  return known ? tg_capture_list(e->s, e->L, e->values, p, e->s->writer.lim)
               : p;
}

/* Every visible frame exits by it, and is entered again by the RESUME. */
void tg_emit_yield (tg_Session *s, tg_Coroutine *t, lua_State *L,
                    const tg_ValueList *values, uint64_t now) {
  Yield e = {s, L, values, now};
  s->writer.behind = true;      /* 't' is on the chain as yet */
  emit(s, now, write_yield, &e);
  s->writer.behind = false;
  s->writer.packets += tg_coroutine_visible(t);
}

/* All visible frames, outermost first: they are told of by that, if they were
   not before. */
static uint8_t *put_frames (tg_Coroutine *t, uint32_t epoch, uint8_t *p) {
  p = tg_put32(p, tg_coroutine_visible(t));
  for (uint32_t i = 0; i < t->n; i++) {
    tg_Frame *f = &t->frames[i];
    bool untold = f->epoch == TG_FR_UNTOLD;
    if (f->what & TG_FR_HIDDEN)
      continue;
    p = tg_put32(p, (f->what & TG_FR_ID) | (untold ? TG_RESUME_UNTOLD : 0u));
    if (untold)
      f->epoch = epoch;
  }
  return p;
}

/* Readers remember the frames of a suspended coroutine. They are listed if they
   are other ones by now, or if a reader may begin after its YIELD ('counted' in
   an earlier epoch). */
void tg_emit_resume (tg_Session *s, tg_Coroutine *t, uint64_t now) {
  tg_Writer *r = &s->writer;
  uint32_t visible = tg_coroutine_visible(t);
  uint8_t *p = tg_writer_begin(r, 16 + 4 * (size_t)visible, now);
  if (p != NULL) {
    tg_assert(t->id != 0 && t->running);
    bool list = t->dropped || (t->counted != r->epoch && visible > 0);
    p = tg_writer_head(r, p, TG_EV_RESUME | (list ? TG_EVF_LIST : 0u), now);
    p = tg_put32(p, t->id);
    if (list) {
      p = put_frames(t, r->epoch, p);
      t->named = r->epoch;
    }
    t->counted = r->epoch;
    t->dropped = false;
    tg_writer_end(r, p);
  }
  r->packets += visible;
}

/* GONE makes no packet: it lets readers forget the coroutine. Without the event
   a reader would keep the frames of each coroutine that was dropped while it
   was suspended, as generators mostly are. */
void tg_emit_gone (tg_Session *s, const tg_Coroutine *t, uint64_t now) {
  tg_Writer *r = &s->writer;
  r->behind = true;             /* the chain does not matter to this event */
  uint8_t *p = tg_writer_begin(r, 8, now);
  r->behind = false;
  if (p == NULL)
    return;
  p = tg_writer_head(r, p, TG_EV_GONE, now);
  tg_writer_end(r, tg_put32(p, t->id));
}

/* WAIT comes after the event that had to wait for room: that event happened
   before the wait. Room is asked for as of that event's time, or a TIME would
   come in between, and readers could not take the wait out of the interval. If
   the WAIT itself has to wait for room, the next one tells of that. */
void tg_emit_wait (tg_Session *s) {
  tg_Writer *r = &s->writer;
  uint64_t now = tg_clock_ticks(), waited = s->after.waited;
  s->after.waited = 0;
  uint8_t *p = tg_writer_begin(r, 20, r->last);
  if (p == NULL)
    return;
  r->last = now > r->last ? now : r->last;
  p = tg_put64(tg_put32(p, TG_EV_WAIT), r->last);
  tg_writer_end(r, tg_put64(p, waited));
}

/* ---- markers ---- */

typedef struct Marking {
  tg_Session *s;
  lua_State *L;
  const tg_Marker *mark;
  tg_FunctionId caller;   /* 0: no Lua function called, or nobody asks */
  int line;
  uint64_t now;
} Marking;

static uint8_t *write_mark (void *event, uint8_t *p) {
  const Marking *e = event;
  const tg_Marker *m = e->mark;
  uint32_t kind = TG_EV_MARK | TG_EVF_VALUES
                  | (m->numbered ? TG_EVF_NUMBER : 0u)
                  | (e->caller != 0 ? TG_EVF_SITE : 0u);
  p = tg_put32(tg_writer_head(&e->s->writer, p, kind, e->now), m->what);
  if (m->numbered)
    p = tg_put64(p, m->number);
  if (e->caller != 0)
    p = tg_put32(tg_put32(p, (uint32_t)e->line), e->caller);
  tg_ValueList list = {.first = m->first, .count = m->count};
  return tg_capture_list(e->s, e->L, &list, p, e->s->writer.lim);
}

/* The line that calls, and its function, whatever the hook knows of the frame:
   it may be older than the trace, or be left out of it. Level 0 is ours. */
static void find_site (Marking *e) {
  lua_Debug ar;
  if ((e->s->selection.types & TG_TYPE_CALLSITE) == 0
      || !lua_checkstack(e->L, LUA_MINSTACK)
      || !lua_getstack(e->L, 1, &ar))
    return;
  lua_getinfo(e->L, "l", &ar);
  e->line = ar.currentline;
  if (e->line >= 0)
    e->caller = tg_catalog_frame(e->s, e->L, &ar);
}

/* It stands for no packet, and the chain is nothing to it. */
void tg_emit_mark (tg_Session *s, lua_State *L, const tg_Marker *mark,
                   uint64_t now) {
  Marking e = {.s = s, .L = L, .mark = mark, .now = now};
  TG_STACK_GUARD(L);
  find_site(&e);
  s->writer.behind = true;
  emit(s, now, write_mark, &e);
  s->writer.behind = false;
  TG_STACK_CHECK(L);
}

/* ---- locals ---- */

typedef struct FrameLocals {
  tg_Session *s;
  lua_State *L;
  const tg_ValueList *list;
  tg_FunctionId function;
  int line;
  uint64_t now;
} FrameLocals;

static uint8_t *write_locals (void *event, uint8_t *p) {
  const FrameLocals *e = event;
  uint32_t kind = TG_EV_MARK | TG_EVF_VALUES | TG_EVF_SITE;
  p = tg_put32(tg_writer_head(&e->s->writer, p, kind, e->now), TG_MARK_LOCALS);
  p = tg_put32(tg_put32(p, (uint32_t)(e->line > 0 ? e->line : 0)),
               e->function);
  return tg_capture_list(e->s, e->L, e->list, p, e->s->writer.lim);
}

/* Before the event that they belong to: the chain is as before it. */
void tg_emit_locals (tg_Session *s, lua_State *L, const tg_ValueList *list,
                     tg_FunctionId function, int line, uint64_t now) {
  FrameLocals e = {s, L, list, function, line, now};
  s->writer.behind = true;
  emit(s, now, write_locals, &e);
  s->writer.behind = false;
}

/* An event that is its head alone. 'packets' is how many readers make of it. */
void tg_emit_plain (tg_Session *s, uint32_t kind, uint32_t packets,
                    uint64_t now) {
  tg_Writer *r = &s->writer;
  r->behind = kind == TG_EV_LEAVE;  /* its coroutine is on the chain as yet */
  uint8_t *p = tg_writer_begin(r, 4, now);
  r->behind = false;
  if (p != NULL)
    tg_writer_end(r, tg_writer_head(r, p, kind, now));
  r->packets += packets;
}

void tg_emit_untraced (tg_Session *s, uint64_t ns, uint64_t now) {
  tg_Writer *r = &s->writer;
  r->behind = true;             /* the chain is nothing to it */
  uint8_t *p = tg_writer_begin(r, TG_UNTRACED_SIZE, now);
  r->behind = false;
  if (p == NULL)
    return;
  p = tg_writer_head(r, p, TG_EV_MARK | TG_EVF_NUMBER, now);
  tg_writer_end(r, tg_put64(tg_put32(p, TG_MARK_UNTRACED), ns));
}
