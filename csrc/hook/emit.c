#include "hook/emit.h"
#include "direct/frame.h"
#include "hook/crosscheck.h"
#include "stream/event.h"

#define CALL_ROOM 128u              /* head, function, site, a few values */
#define ROOM_MAX ((size_t)64 << 20) /* more than any packet's values take */

/* The next size to try when values did not fit. */
static size_t more_room (size_t need) {
  size_t half = TG_CHUNK_SIZE / 2;
  return (need < half) ? half : need * 4;
}

/* Values that move at event 'ar', by the public API. */
static TG_NOINLINE void ask_results (lua_State *L, lua_Debug *ar,
                                     tg_ValueList *list) {
  lua_getinfo(L, "r", ar);
  list->first = ar->ftransfer;
  list->count = ar->ntransfer;
}

/*
** Where the values of event 'ar' stand. Results of C functions may start at an
** index beyond 65535, which the interpreter tells modulo 65536.
*/
TG_INLINE void results (const tg_Session *s, lua_State *L, lua_Debug *ar,
                        bool c, tg_ValueList *list) {
  if (tg_likely(s->direct)) {
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

/* How many extra arguments a vararg function was given, by bisection. */
static int count_varargs (lua_State *L, lua_Debug *ar) {
  int low = 0, high = 1;
  while (lua_getlocal(L, ar, -high) != NULL) {
    lua_pop(L, 1);
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (lua_getlocal(L, ar, -middle) != NULL) {
      lua_pop(L, 1);
      low = middle;
    }
    else
      high = middle;
  }
  return low;
}

/* Those of a C function: all that is on its stack. */
TG_INLINE int count_all (const tg_Call *c) {
  if (tg_likely(c->t->session->direct))
    return tg_direct_top(c->L, c->ar->i_ci);
  return lua_gettop(c->L) - 1;          /* its function is on top */
}

static int count_extra (const tg_Call *c) {
  return c->t->session->direct ? tg_frame_extra(c->ar->i_ci)
                               : count_varargs(c->L, c->ar);
}

TG_INLINE void arguments (const tg_Call *c, tg_ValueList *list) {
  uint32_t what = c->callee->what;
  const tg_Functions *fs = c->t->session->writer.stream->functions;
  list->first = 1;
  list->ar = c->ar;
  list->varargs = 0;
  list->secrets = NULL;
  list->count = (what & TG_FR_C) ? count_all(c) : c->callee->nparams;
  if (tg_unlikely(what & TG_FR_VARARG))
    list->varargs = count_extra(c);
  if (tg_unlikely(what & TG_FR_SECRETS))
    list->secrets = tg_functions_get(fs, what & TG_FR_ID);
}

/* ---- call sites ---- */

/* Whether a reader that starts in this epoch knows what function 'f' is. */
static bool described (const tg_Coroutine *t, const tg_Frame *f, uint32_t epoch)
{ return !(f->what & TG_FR_HIDDEN) && (f->epoch == epoch || t->named == epoch);
}

/* A caller that is older than the trace; the last one is remembered. */
static tg_FunctionId base_function (const tg_Call *c) {
  tg_Coroutine *t = c->t;
  if (t->base_ci != c->up->i_ci) {
    t->base_fn = tg_catalog_frame(t->session, c->L, c->up);
    t->base_ci = c->up->i_ci;
  }
  return t->base_fn;
}

/* The line that the caller is at; -1 if it is not a Lua function or has none.
   */
TG_INLINE int site_line (const tg_Call *c) {
  if (tg_likely(c->t->session->direct)) {
    int line = tg_frame_is_c(c->up->i_ci) ? -1 : tg_frame_line(c->up->i_ci);
    tg_crosscheck_line(c, line);
    return line;
  }
  lua_getinfo(c->L, "l", c->up);
  return c->up->currentline;
}

/* Writes the call site, if the caller is a Lua function; sets the flags. */
static uint8_t *put_site (const tg_Call *c, uint8_t *p, uint32_t *kind) {
  tg_Coroutine *t = c->t;
  const tg_Frame *caller = NULL;
  if (c->up == NULL)
    return p;
  int line = site_line(c);
  if (line < 0)
    return p;
  if (t->n >= 2 && t->frames[t->n - 2].ci == c->up->i_ci)
    caller = &t->frames[t->n - 2];
  *kind |= TG_EVF_SITE;
  p = tg_put32(p, (uint32_t)line);
  if (caller != NULL && described(t, caller, t->session->writer.epoch))
    return p;
  *kind |= TG_EVF_FAR;
  return tg_put32(p, (caller != NULL) ? caller->what & TG_FR_ID
                                      : base_function(c));
}

/* ---- events ---- */

/* Whether this call's arguments are wanted: those of coroutine.yield are also
   what is yielded. */
static bool wants_arguments (const tg_Session *s, uint32_t what) {
  if (s->selection.types & TG_TYPE_ARGUMENTS)
    return true;
  return tg_role_bits(what) == TG_ROLE_YIELD
         && (s->selection.types & TG_TYPE_YIELD) != 0;
}

static uint8_t *put_call (const tg_Call *c, uint8_t *p, bool values) {
  tg_Writer *r = &c->t->session->writer;
  uint8_t *head = p;
  uint32_t kind = TG_EV_CALL | (c->tail ? TG_EVF_TAIL : 0u)
                  | (values ? TG_EVF_VALUES : 0u);
  p = tg_put32(p + 4, c->callee->what & TG_FR_ID);
  if (c->t->session->selection.types & TG_TYPE_CALLSITE)
    p = put_site(c, p, &kind);
  tg_writer_head(r, head, kind, c->now);
  tg_coroutine_top(c->t)->epoch = r->epoch;
  return p;
}

void tg_emit_call (const tg_Call *c) {
  tg_Session *s = c->t->session;
  tg_Writer *r = &s->writer;
  bool values = wants_arguments(s, c->callee->what);
  for (size_t need = CALL_ROOM; need < ROOM_MAX; need = more_room(need)) {
    uint8_t *p = tg_writer_begin(r, need, c->now);
    if (p == NULL)
      break;
    uint64_t last = r->last;
    p = put_call(c, p, values);
    if (values) {
      tg_ValueList list;
      arguments(c, &list);
      p = tg_capture_list(s, c->L, &list, p, r->lim);
    }
    if (tg_likely(p != NULL)) {
      tg_writer_end(r, p);
      break;
    }
    r->last = last;
  }
  r->packets += 1u + c->tail;
}

void tg_emit_return (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                     uint32_t what, uint64_t now) {
  tg_Session *s = t->session;
  tg_Writer *r = &s->writer;
  bool values = (s->selection.types & TG_TYPE_RETURN) != 0;
  for (size_t need = CALL_ROOM; need < ROOM_MAX; need = more_room(need)) {
    uint8_t *p = tg_writer_begin(r, need, now);
    if (p == NULL)
      break;
    uint64_t last = r->last;
    p = tg_writer_head(r, p, TG_EV_RETURN | (values ? TG_EVF_VALUES : 0u), now);
    if (values) {
      tg_ValueList list = {0};
      results(s, L, ar, (what & TG_FR_C) != 0, &list);
      p = tg_capture_list(s, L, &list, p, r->lim);
    }
    if (tg_likely(p != NULL)) {
      tg_writer_end(r, p);
      break;
    }
    r->last = last;
  }
  r->packets++;
}

void tg_emit_tail_exit (tg_Session *s, uint64_t now) {
  tg_emit_plain(s, TG_EV_RETURN | TG_EVF_TAIL, 1, now);
}

/* The thrown value at 'p', NULL if the room is too small. */
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
    return tg_capture_text(text + v->skip, size - v->skip,
                           s->selection.limits.string, p, r->lim);
  }
  tg_ValueList list = {.first = v->index, .count = 1};
  return tg_capture_list(s, v->L, &list, p, r->lim);
}

void tg_emit_throw (tg_Session *s, uint32_t count, const tg_ErrorValue *value,
                    uint64_t now) {
  tg_Writer *r = &s->writer;
  bool values = value->index != 0 || value->stash.data != NULL;
  for (size_t need = CALL_ROOM; need < ROOM_MAX; need = more_room(need)) {
    uint8_t *p = tg_writer_begin(r, need, now);
    if (p == NULL)
      break;
    uint64_t last = r->last;
    p = tg_writer_head(r, p, TG_EV_THROW | (values ? TG_EVF_VALUES : 0u), now);
    p = tg_put32(p, count);
    if (values)
      p = put_thrown(s, value, p);
    if (p != NULL) {
      tg_writer_end(r, p);
      break;
    }
    r->last = last;
  }
  r->packets += count;
}

void tg_emit_yield (tg_Session *s, tg_Coroutine *t, lua_State *L,
                    const tg_ValueList *values, uint64_t now) {
  tg_Writer *r = &s->writer;
  bool known = values != NULL && (s->selection.types & TG_TYPE_YIELD) != 0;
  for (size_t need = CALL_ROOM; need < ROOM_MAX; need = more_room(need)) {
    uint8_t *p = tg_writer_begin(r, need, now);
    if (p == NULL)
      break;
    uint64_t last = r->last;
    p = tg_writer_head(r, p, TG_EV_YIELD | (known ? TG_EVF_VALUES : 0u), now);
    if (known)
      p = tg_capture_list(s, L, values, p, r->lim);
    if (p != NULL) {
      tg_writer_end(r, p);
      break;
    }
    r->last = last;
  }
  r->packets += t->visible;
}

/* All visible frames, outermost first. */
static uint8_t *put_frames (const tg_Coroutine *t, uint8_t *p) {
  p = tg_put32(p, t->visible);
  for (uint32_t i = 0; i < t->n; i++) {
    if (!(t->frames[i].what & TG_FR_HIDDEN))
      p = tg_put32(p, t->frames[i].what & TG_FR_ID);
  }
  return p;
}

void tg_emit_resume (tg_Session *s, tg_Coroutine *t, uint64_t now) {
  tg_Writer *r = &s->writer;
  uint8_t *p = tg_writer_begin(r, 16 + 4 * (size_t)t->visible, now);
  if (p != NULL) {
    bool list = t->dropped || (t->counted != r->epoch && t->visible > 0);
    p = tg_writer_head(r, p, TG_EV_RESUME | (list ? TG_EVF_LIST : 0u), now);
    p = tg_put32(p, t->id);
    if (list) {
      p = put_frames(t, p);
      t->named = r->epoch;
    }
    t->counted = r->epoch;
    t->dropped = false;
    tg_writer_end(r, p);
  }
  r->packets += t->visible;
}

void tg_emit_gone (tg_Session *s, const tg_Coroutine *t, uint64_t now) {
  tg_Writer *r = &s->writer;
  uint8_t *p = tg_writer_begin(r, 8, now);
  if (p == NULL)
    return;
  p = tg_writer_head(r, p, TG_EV_GONE, now);
  tg_writer_end(r, tg_put32(p, t->id));
}

void tg_emit_plain (tg_Session *s, uint32_t kind, uint32_t packets,
                    uint64_t now) {
  tg_Writer *r = &s->writer;
  uint8_t *p = tg_writer_begin(r, 4, now);
  if (p != NULL)
    tg_writer_end(r, tg_writer_head(r, p, kind, now));
  r->packets += packets;
}
