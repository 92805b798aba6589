/*
** quick.c - quick calls and returns whose values or site are wanted. Called by
** the hook, when all that was to be asked has been (quick.h).
**
** What each function does last is a call of the next one, to which the
** compiler jumps: a list that is plain takes the first way, a short one with
** known strings or named objects the second, any other the third. What even
** that cannot do is written as after a full look (emit.c), with the frame in
** place. Nothing is committed before it is complete, and nothing fails here:
** events without room or memory are counted there.
*/
#include "hook/quick.h"
#include "capture/few.h"
#include "chain/locals.h"

/*
** Works out how deep the shadow stack may become by quick calls: one less than
** has room, or than the depth limit allows; 0 where no event may go the quick
** way. Called after each event that was looked at in full, which is when any of
** this can have changed: something to attend to, a hook of the program's, a
** value on its way to be thrown, frames that are not known, a frame of ours on
** top, somebody who wants locals. So the quick way itself compares one number.
*/
void tg_quick_allow (tg_Coroutine *t) {
  tg_assert(t->n <= t->capacity && t->hidden <= t->n);
  const tg_Session *s = t->session;
  uint32_t most = t->capacity;
  t->quick = 0;
  if (t->n == 0 || s->after.attention || t->user.hook != NULL || t->stashed > 0
      || t->blind || (t->frames[t->n - 1].what & TG_FR_OWN)
      || tg_locals_wanted(s))
    return;
  if (tg_unlikely(s->depth_limit != TG_NOLIMIT)) {
    uint32_t here = t->below + t->n - t->hidden;
    uint32_t more = (here < s->depth_limit) ? s->depth_limit - here : 0;
    if (more < most - t->n)
      most = t->n + more;
  }
  t->quick = most - 1;
}

/* ---- calls ---- */

/* By the way that knows all. */
static TG_NOINLINE void call_in_full (tg_Coroutine *t, lua_Debug *ar,
                                      const tg_Closure *k, uint64_t now) {
  tg_Call c = {t, t->L, ar, tg_frame_caller(ar->i_ci), k, NULL, false, false,
               now};
  tg_Writer *r = &t->session->writer;
  t->frames[t->n++] = (tg_Frame){ar->i_ci, k->what, r->epoch};
  tg_emit_call_again(c);
  r->packets++;
}

/* Any arguments at all, as they stand. */
TG_INLINE uint8_t *put_list (tg_Coroutine *t, lua_Debug *ar,
                             const tg_Closure *k, uint8_t *p) {
  tg_Session *s = t->session;
  bool unknown = false;
  tg_ValueList list = tg_emit_argument_list(t, ar, k);
  if (tg_unlikely(list.asked))
    return NULL;
  p = tg_capture_slots(s, t->L, &list, tg_frame_slot(ar->i_ci), p,
                       s->writer.lim, &unknown);
  return unknown ? NULL : p;
}

/* Arguments that are not plain. */
static TG_NOINLINE void call_with_list (tg_Coroutine *t, lua_Debug *ar,
                                        const tg_Closure *k, uint64_t now,
                                        uint8_t *p, uint32_t kind) {
  const void *base = tg_frame_slot(ar->i_ci);
  int n = tg_emit_count_arguments(t, ar->i_ci, k);
  uint8_t *end = NULL;
  if (tg_capture_are_few(t->session, n, p))
    end = tg_capture_few(t->session, t->L, base, 1, n, 0, p);
  if (end == NULL)
    end = put_list(t, ar, k, p);
  if (tg_likely(end != NULL))
    tg_quick_put_call(t, ar, k, now, end, kind | TG_EVF_VALUES);
  else
    call_in_full(t, ar, k, now);
}

void tg_quick_call_with (tg_Coroutine *t, lua_Debug *ar, const tg_Closure *k,
                         uint64_t now, uint8_t *p, uint32_t kind) {
  uint8_t *end = tg_emit_plain_arguments(t, ar->i_ci, k, p);
  if (tg_likely(end != NULL))
    tg_quick_put_call(t, ar, k, now, end, kind | TG_EVF_VALUES);
  else
    call_with_list(t, ar, k, now, p, kind);
}

/* The site first, whose bytes stand before the arguments. 8 bytes are left for
   the head, which is written last. */
void tg_quick_call_from (tg_Coroutine *t, lua_Debug *ar, const tg_Closure *k,
                         uint64_t now) {
  const tg_Session *s = t->session;
  uint32_t kind = TG_EV_CALL;
  uint8_t *p = tg_emit_put_site_in(t, tg_coroutine_top(t), s->writer.p + 8,
                                   &kind);
  if (s->selection.types & TG_TYPE_ARGUMENTS)
    tg_quick_call_with(t, ar, k, now, p, kind);
  else
    tg_quick_put_call(t, ar, k, now, p, kind);
}

/* ---- returns ---- */

/* The frame goes first, as in a full look: a chunk that begins with this return
   must not list it. */
static TG_NOINLINE void return_in_full (tg_Coroutine *t, lua_Debug *ar,
                                        uint64_t now) {
  uint32_t what = tg_coroutine_top(t)->what;
  t->n--;
  tg_emit_return_again(t->session, t->L, ar, what, now);
  t->session->writer.packets++;
}

/* 'n' results from slot 'first' on, which are not plain. */
static TG_NOINLINE void return_with_list (tg_Coroutine *t, lua_Debug *ar,
                                          uint64_t now, int first, int n) {
  tg_Session *s = t->session;
  const void *base = tg_frame_slot(ar->i_ci);
  bool unknown = false;
  tg_ValueList list = {.first = first, .count = n};
  uint8_t *start = s->writer.p + 4, *p = NULL;
  if (tg_capture_are_few(s, n, start))
    p = tg_capture_few(s, t->L, base, first, n, 0, start);
  if (p == NULL)
    p = tg_capture_slots(s, t->L, &list, base, start, s->writer.lim, &unknown);
  if (tg_likely(p != NULL && !unknown))
    tg_quick_put_return(t, now, p, TG_EVF_VALUES);
  else
    return_in_full(t, ar, now);
}

/* Where results stand is told by the frame, but for those of a C function whose
   place may not fit the 16 bits that it has for that. */
void tg_quick_return_with (tg_Coroutine *t, lua_Debug *ar, uint32_t what,
                           uint64_t now) {
  const tg_Session *s = t->session;
  uint8_t *p = s->writer.p + 4;
  int first = 0, n;
  if (tg_unlikely(!tg_emit_find_results(t->L, ar, what, &first, &n))) {
    return_in_full(t, ar, now);
    return;
  }
  if (n == 0) {
    tg_quick_put_return(t, now, p, TG_EVF_NOTHING);
    return;
  }
  p = tg_capture_plain(s, tg_frame_slot(ar->i_ci), first, n, p);
  if (tg_likely(p != NULL))
    tg_quick_put_return(t, now, p, TG_EVF_VALUES);
  else
    return_with_list(t, ar, now, first, n);
}
