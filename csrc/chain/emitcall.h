/*
** emitcall.h - calls and returns as bytes, the quick way: what is usual is
** written in the hook itself, in one piece; the rest is emit.c's.
**
** 'direct' is known when this is compiled: whether the interpreter's memory is
** read.
*/
#ifndef TG_EMITCALL_H
#define TG_EMITCALL_H

#include "capture/crosscheck.h"
#include "capture/plain.h"
#include "chain/emit.h"
#include "direct/frame.h"
#include "stream/event.h"

#define CALL_ROOM 128u              /* head, function, site, a few values */
#define TG_PLAIN_CALL_ROOM (16u + TG_PLAIN_ROOM)  /* with a plain list */

/* ---- call sites ---- */

/* Whether a reader that starts in this epoch knows what function 'f' is. */
TG_INLINE bool tg_emit_described (const tg_Coroutine *t, const tg_Frame *f,
                                  uint32_t epoch) {
  return !(f->what & TG_FR_HIDDEN) && (f->epoch == epoch || t->named == epoch);
}

/* The line that a frame is at; -1 if it is not a Lua function or has none. */
TG_INLINE int tg_emit_line (lua_State *L, const void *frame, bool direct) {
  if (direct)
    return tg_frame_is_c(frame) ? -1 : tg_frame_line(frame);
  lua_Debug up;
  up.i_ci = (struct CallInfo *)(uintptr_t)frame;
  lua_getinfo(L, "l", &up);
  return up.currentline;
}

/* Writes the line of a call. The caller's function has to follow if the flag
   FAR is set: readers know that of a frame that was described to them. */
TG_INLINE uint8_t *tg_emit_put_line (const tg_Coroutine *t,
                                     const tg_Frame *caller, int line,
                                     uint8_t *p, uint32_t *kind) {
  uint32_t epoch = t->session->writer.epoch;
  *kind |= TG_EVF_SITE;
  if (tg_unlikely(caller == NULL || !tg_emit_described(t, caller, epoch)))
    *kind |= TG_EVF_FAR;
  return tg_put32(p, (uint32_t)line);
}

/* Writes the site of a call, whose frame is on top and whose caller may be
   older than the trace; sets the flags. */
TG_INLINE uint8_t *tg_emit_put_site (const tg_Call *c, uint8_t *p,
                                     uint32_t *kind, bool direct) {
  const tg_Coroutine *t = c->t;
  const tg_Frame *caller = NULL;
  if (tg_unlikely(c->caller == NULL))
    return p;
  int line = tg_emit_line(c->L, c->caller, direct);
  tg_crosscheck_line(c, line);
  if (line < 0)
    return p;
  if (tg_likely(t->n >= 2 && t->frames[t->n - 2].ci == c->caller))
    caller = &t->frames[t->n - 2];
  p = tg_emit_put_line(t, caller, line, p, kind);
  if (tg_likely(!(*kind & TG_EVF_FAR)))
    return p;
  return tg_put32(p, (caller != NULL) ? caller->what & TG_FR_ID
                                      : tg_emit_base_function(*c));
}

/* ---- calls ---- */

/* The size of a plain list, whose 4 bytes are left for that at 'p'. */
TG_INLINE uint8_t *tg_emit_put_size (uint8_t *p, uint8_t *end) {
  tg_put32(p, (uint32_t)(end - p - 4));
  return end;
}

/* Whether this call's arguments are wanted: those of coroutine.yield are also
   what is yielded. */
TG_INLINE bool tg_emit_wants_arguments (const tg_Call *c) {
  uint32_t types = c->t->session->selection.types;
  if (types & TG_TYPE_ARGUMENTS)
    return true;
  return tg_role_bits(c->callee->what) == TG_ROLE_YIELD
         && (types & TG_TYPE_YIELD) != 0;
}

/* All but the arguments. */
TG_INLINE uint8_t *tg_emit_put_call (const tg_Call *c, uint8_t *p, bool values,
                                     bool direct) {
  tg_Writer *r = &c->t->session->writer;
  uint8_t *head = p;
  uint32_t kind = TG_EV_CALL | (c->tail ? TG_EVF_TAIL : 0u)
                  | (values ? TG_EVF_VALUES : 0u);
  p = tg_put32(p + 4, c->callee->what & TG_FR_ID);
  if (c->t->session->selection.types & TG_TYPE_CALLSITE)
    p = tg_emit_put_site(c, p, &kind, direct);
  tg_writer_head(r, head, kind, c->now);
  tg_coroutine_top(c->t)->epoch = r->epoch;
  return p;
}

/* How many arguments a call of 'k' has, in slots from 1 on; -1 where that is
   not all there is to know of them. */
TG_INLINE int tg_emit_count_arguments (const tg_Coroutine *t, const void *frame,
                                       const tg_Closure *k) {
  if (tg_unlikely(k->what & (TG_FR_VARARG | TG_FR_SECRETS)))
    return -1;
  return (k->what & TG_FR_C) ? tg_direct_top(t->L, frame) : k->nparams;
}

/* The arguments of a call of 'k', without their size, if they are plain; else
   NULL. */
TG_INLINE uint8_t *tg_emit_plain_arguments (const tg_Coroutine *t,
                                            const void *frame,
                                            const tg_Closure *k, uint8_t *p) {
  int n = tg_emit_count_arguments(t, frame, k);
  return tg_capture_plain(t->session, tg_frame_slot(frame), 1, n, p);
}

TG_INLINE uint8_t *tg_emit_put_arguments (const tg_Call *c, uint8_t *p,
                                          bool direct) {
  const uint8_t *lim = c->t->session->writer.lim;
  if (direct && !TG_CROSSCHECKED && (size_t)(lim - p) >= TG_PLAIN_ROOM) {
    uint8_t *end = tg_emit_plain_arguments(c->t, c->ar->i_ci, c->callee, p + 4);
    if (tg_likely(end != NULL))
      return tg_emit_put_size(p, end);
  }
  return tg_emit_arguments(*c, p);
}

/* From 'head' on, where there is CALL_ROOM; NULL: its values need more. */
TG_INLINE uint8_t *tg_emit_put_event (const tg_Call *c, uint8_t *head,
                                      bool direct) {
  bool values = tg_emit_wants_arguments(c);
  if (direct && c->tail) {
    uint8_t *end = tg_emit_tail(c, head, values);
    if (tg_likely(end != NULL))
      return end;
  }
  uint8_t *p = tg_emit_put_call(c, head, values, direct);
  return values ? tg_emit_put_arguments(c, p, direct) : p;
}

TG_INLINE void tg_emit_call (const tg_Call *c, bool direct) {
  tg_Writer *r = &c->t->session->writer;
  tg_assert(tg_coroutine_top(c->t)->ci == c->ar->i_ci);
  uint8_t *p = tg_writer_begin(r, CALL_ROOM, c->now);
  if (tg_likely(p != NULL)) {
    uint64_t last = r->last;
    p = tg_emit_put_event(c, p, direct);
    if (tg_likely(p != NULL))
      tg_writer_end(r, p);
    else {
      r->last = last;
      tg_emit_call_again(*c);
    }
  }
  r->packets += 1u + c->tail;
}

/* ---- returns ---- */

/* Where memory has the results of frame 'ar'; false if there are more of them
   than the interpreter tells, which counts modulo 65536. */
TG_INLINE bool tg_emit_find_results (const lua_State *L, const lua_Debug *ar,
                                     uint32_t what, int *first, int *n) {
  *n = tg_direct_moved(L, ar->i_ci, first);
  return !(what & TG_FR_C) || *n == 0
         || *first + *n - 1 == tg_direct_top(L, ar->i_ci);
}

/* There are no values after the head that ends at 'p'. */
TG_INLINE uint8_t *tg_emit_put_nothing (uint8_t *p) {
  uint32_t head = tg_get32(p - 4);
  tg_put32(p - 4, head ^ (TG_EVF_VALUES | TG_EVF_NOTHING));
  return p;
}

TG_INLINE uint8_t *tg_emit_put_results (tg_Session *s, lua_State *L,
                                        lua_Debug *ar, uint32_t what,
                                        uint8_t *p, bool direct) {
  int first = 0, n;
  if (direct && !TG_CROSSCHECKED
      && (size_t)(s->writer.lim - p) >= TG_PLAIN_ROOM
      && tg_likely(tg_emit_find_results(L, ar, what, &first, &n))) {
    if (n == 0)
      return tg_emit_put_nothing(p);
    uint8_t *end = tg_capture_plain(s, tg_frame_slot(ar->i_ci), first, n,
                                    p + 4);
    if (tg_likely(end != NULL))
      return tg_emit_put_size(p, end);
  }
  return tg_emit_results(s, L, ar, what, p);
}

/* A return of function 'what', whose frame has been popped. */
TG_INLINE void tg_emit_return (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                               uint32_t what, uint64_t now, bool direct) {
  tg_Session *s = t->session;
  tg_Writer *r = &s->writer;
  bool values = (s->selection.types & TG_TYPE_RETURN) != 0;
  uint8_t *p = tg_writer_begin(r, CALL_ROOM, now);
  if (tg_likely(p != NULL)) {
    uint64_t last = r->last;
    p = tg_writer_head(r, p, TG_EV_RETURN | (values ? TG_EVF_VALUES : 0u), now);
    if (values)
      p = tg_emit_put_results(s, L, ar, what, p, direct);
    if (tg_likely(p != NULL))
      tg_writer_end(r, p);
    else {
      r->last = last;
      tg_emit_return_again(s, L, ar, what, now);
    }
  }
  r->packets++;
}

#endif
