/*
** quick.h - the calls and returns that most events are, when memory is read: a
** frame on top of its shadow stack, a function that is known and nothing
** special, room in the chunk. Or a frame that is hidden, which needs no room.
**
** All of that is asked first, and nothing is changed meanwhile. If one answer
** is no, the event is looked at in full (fullevent.h), as if it had only begun.
** So the quick way has no second half to fall back from, calls nothing and need
** not save a register.
**
** What changes seldom is not asked at each event, but after each one that was
** looked at in full, and stands in the coroutine's record as one number,
** 'quick': for how many frames below its top the next events may go this way.
** It is 0 where something is to be done at every event. Who changes any of it
** between two events says so: tg_session_review, tg_session_request_attention.
*/
#ifndef TG_QUICK_H
#define TG_QUICK_H

#include "chain/callee.h"
#include "chain/emitcall.h"
#include "state/session.h"

/* After an event that was looked at in full. */
void tg_quick_allow (tg_Coroutine *t);

/* The call of 'k', whose site is wanted, and perhaps its arguments. */
void tg_quick_call_from (tg_Coroutine *t, lua_Debug *ar, const tg_Closure *k,
                         uint64_t now);

/* The call of 'k' with its arguments, which go to 'p'; it has these flags so
   far. */
void tg_quick_call_with (tg_Coroutine *t, lua_Debug *ar, const tg_Closure *k,
                         uint64_t now, uint8_t *p, uint32_t flags);

/* The return of function 'what', with its results. */
void tg_quick_return_with (tg_Coroutine *t, lua_Debug *ar, uint32_t what,
                           uint64_t now);

/* The compiler reads everything from memory again from here on. To keep values
   would take registers that have to be saved first, which is dearer. */
#define TG_QUICK_FORGET() __asm__ volatile ("" : : : "memory")

/* The known function that is called; NULL: the event is to be looked at in
   full. Not 'sure': the function seen at this address before may have been
   another one. */
TG_INLINE const tg_Closure *tg_quick_callee (const tg_Coroutine *t,
                                             const lua_Debug *ar, bool *sure) {
  const tg_Session *s = t->session;
  uint32_t at = t->n - 1;       /* of none, the largest number */
  const void *frame = ar->i_ci;
  if (tg_unlikely(at >= t->quick
                  || t->frames[at].ci
                     != tg_read_pointer(frame, TG_AT_FRAME_CALLER)))
    return NULL;
  tg_Slot f = tg_frame_function(frame);
  if (tg_unlikely(f.u.p == t->handler))
    return NULL;
  const void *key = tg_slot_key(f);
  const tg_Closure *k = tg_closures_find(&s->known.closures, key);
  *sure = tg_callee_known(k, f, key);
  return (tg_likely(*sure) || k->address == key) ? k : NULL;
}

/* Whether there is room for a call or a return, and it comes so soon after the
   event before that it is written shorter (stream/event.h): all are, here. */
TG_INLINE bool tg_quick_room (const tg_Coroutine *t, uint64_t now) {
  return tg_writer_ready_short(&t->session->writer, TG_PLAIN_CALL_ROOM, now);
}

/* Where an event that is written shorter goes on behind its head, or behind the
   function of a call. */
TG_INLINE uint8_t *tg_quick_behind_head (const tg_Coroutine *t) {
  return t->session->writer.p + TG_SHORT_HEAD;
}

TG_INLINE uint8_t *tg_quick_behind_function (const tg_Coroutine *t) {
  return tg_quick_behind_head(t) + 2;
}

/* Whether a function or a frame is hidden and nothing else is special. */
TG_INLINE bool tg_quick_hides (uint32_t what) {
  return (what & TG_FR_SPECIAL) == TG_FR_HIDDEN;
}

/* The frame that returns, which is not a coroutine's first; NULL: the event is
   to be looked at in full. It may have a role or be hidden, as a callee may. */
TG_INLINE const tg_Frame *tg_quick_returning (const tg_Coroutine *t,
                                              const lua_Debug *ar) {
  uint32_t below = t->n - 2;
  if (tg_unlikely(below >= t->quick))
    return NULL;
  const tg_Frame *top = &t->frames[(size_t)below + 1];
  return tg_likely(top->ci == ar->i_ci) ? top : NULL;
}

/* A packet more. Of a few events the hook tells how long it took (GAUGE in
   event.h): what tracing costs changes with the machine's speed, and with what
   the program leaves in the processor's caches. */
TG_INLINE void tg_quick_count (tg_Writer *r) {
  r->packets++;
  if (tg_unlikely(--r->gauge_in == 0))
    tg_writer_gauge(r);
}

/* Pushes the frame and writes the call, what comes after its function being
   written already, up to 'p'. 'flags' are not 0 (stream/event.h). */
TG_INLINE void tg_quick_put_call (tg_Coroutine *t, const lua_Debug *ar,
                                  const tg_Closure *k, uint64_t now,
                                  uint8_t *p, uint32_t flags) {
  tg_Writer *r = &t->session->writer;
  tg_Frame *f = &t->frames[t->n++];
  tg_assert(t->n <= t->capacity && t->hidden < t->n);
  f->ci = ar->i_ci;
  f->what = k->what;
  tg_assert(flags != 0 && (k->what & TG_FR_LATE) == 0);
  tg_writer_head(r, r->p, TG_EV_NONE | flags, now);     /* and a byte more */
  f->epoch = r->epoch;
  tg_put16(r->p + TG_SHORT_HEAD, k->what);
  tg_writer_end(r, p);
  tg_quick_count(r);
}

/* The same of a return, whose frame is popped. */
TG_INLINE void tg_quick_put_return (tg_Coroutine *t, uint64_t now, uint8_t *p,
                                    uint32_t flags) {
  tg_Writer *r = &t->session->writer;
  tg_assert(t->n >= 2 && t->hidden < t->n);
  t->n--;
  tg_writer_short_head(r, r->p, TG_EV_RETURN | TG_EVF_SHORT | flags, now);
  tg_writer_end(r, p);
  tg_quick_count(r);
}

/* The call of 'k', which is hidden, and the return of such a frame. */
TG_INLINE void tg_quick_hide (tg_Coroutine *t, const lua_Debug *ar,
                              const tg_Closure *k, uint64_t now) {
  tg_Session *s = t->session;
  tg_assert(t->n < t->capacity && tg_quick_hides(k->what));
  t->frames[t->n++] = (tg_Frame){ar->i_ci, k->what, s->writer.epoch};
  t->hidden++;
  s->hidden_at = now;
}

TG_INLINE void tg_quick_unhide (tg_Coroutine *t, uint64_t now) {
  tg_assert(t->n > 0 && tg_quick_hides(tg_coroutine_top(t)->what));
  t->n--;
  t->hidden--;
  t->session->hidden_at = now;
}

#endif
