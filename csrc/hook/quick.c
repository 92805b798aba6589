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
    uint32_t here = tg_coroutine_visible(t);
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

/*
** Lists. Their size stands before them as a var, which may have more bytes than
** it needs: 1 of a list that is plain, 2 of one that is short, 4 of any other.
** From two bytes on a list may refer to what is before it (stream/event.h).
*/
#define ANY_SIZE 4u

_Static_assert(((UINT32_C(1) << 28) - 1) / 4 > TG_PACKET_MAX,
               "four bytes tell the size of any list");

/* Whether there is a plain list from 'p' + 1 up to 'end', and it is not too
   long. If 'end' is NULL, it is as far away as can be. */
TG_INLINE bool is_plain_list (const uint8_t *p, const uint8_t *end) {
  return (uintptr_t)end - (uintptr_t)p <= TG_SHORT_LIST + 1;
}

/* Values that are few; else NULL. */
TG_INLINE uint8_t *put_few (tg_Session *s, lua_State *L, const void *base,
                            int first, int n, uint8_t *p) {
  return tg_capture_are_few(s, n, p)
         ? tg_capture_few(s, L, base, first, n, 0, p) : NULL;
}

/* Any values at all, as they stand; NULL if memory does not tell them, or there
   is too little room. */
static uint8_t *put_any (tg_Session *s, lua_State *L, const tg_ValueList *list,
                         const void *base, uint8_t *p) {
  bool unknown = false;
  uint8_t *end = tg_capture_slots(s, L, list, base, p, s->writer.lim,
                                  &unknown);
  if (end == NULL || unknown)
    return NULL;
  tg_putwide(p, (uint64_t)(end - p) - ANY_SIZE, ANY_SIZE);
  return end;
}

/* Arguments that are not plain. */
static TG_NOINLINE void call_with_list (tg_Coroutine *t, lua_Debug *ar,
                                        const tg_Closure *k, uint64_t now,
                                        uint8_t *p, uint32_t flags) {
  const void *base = tg_frame_slot(ar->i_ci);
  int n = tg_emit_count_arguments(t, ar->i_ci, k);
  uint8_t *end = put_few(t->session, t->L, base, 1, n, p);
  if (end == NULL) {
    tg_ValueList list = tg_emit_argument_list(t, ar, k);
    if (tg_likely(!list.asked))
      end = put_any(t->session, t->L, &list, base, p);
  }
  if (tg_likely(end != NULL))
    tg_quick_put_call(t, ar, k, now, end, flags | TG_EVF_VALUES);
  else
    call_in_full(t, ar, k, now);
}

void tg_quick_call_with (tg_Coroutine *t, lua_Debug *ar, const tg_Closure *k,
                         uint64_t now, uint8_t *p, uint32_t flags) {
  uint8_t *end = tg_emit_plain_arguments(t, ar->i_ci, k, p + 1);
  if (tg_likely(is_plain_list(p, end))) {
    *p = (uint8_t)(end - p - 1);
    tg_quick_put_call(t, ar, k, now, end, flags | TG_EVF_VALUES);
  }
  else
    call_with_list(t, ar, k, now, p, flags);
}

/* Goes on behind the site that ends at 'p', if there is one. A call has a flag
   at least: FAR says nothing where there is no site. The head, which is written
   last, has its bytes left for it. */
TG_INLINE void call_behind_site (tg_Coroutine *t, lua_Debug *ar,
                                 const tg_Closure *k, uint64_t now,
                                 uint8_t *p, uint32_t flags) {
  if (t->session->selection.types & TG_TYPE_ARGUMENTS)
    tg_quick_call_with(t, ar, k, now, p, flags);
  else
    tg_quick_put_call(t, ar, k, now, p, (flags != 0) ? flags : TG_EVF_FAR);
}

/* The caller's function has to follow where readers do not know it: in each
   chunk but the first of a loop's. */
void tg_quick_call_from (tg_Coroutine *t, lua_Debug *ar, const tg_Closure *k,
                         uint64_t now) {
  const tg_Frame *caller = tg_coroutine_top(t);
  int line = tg_emit_line(t->L, caller->ci, true);
  uint8_t *p = tg_quick_behind_function(t);
  uint32_t flags = 0;
  if (tg_likely((uint32_t)line <= TG_SHORT_MAX)) {
    flags = TG_EVF_SITE;
    p = tg_put16(p, (uint32_t)line);
    if (!tg_emit_described(t, caller, t->session->writer.epoch)) {
      flags |= TG_EVF_FAR;
      p = tg_put16(p, caller->what);
      if (tg_unlikely(caller->what & TG_FR_LATE)) {
        call_in_full(t, ar, k, now);
        return;
      }
    }
  }
  else if (line >= 0) {
    call_in_full(t, ar, k, now);
    return;
  }
  call_behind_site(t, ar, k, now, p, flags);
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
  tg_ValueList list = {.first = first, .count = n};
  uint8_t *p = tg_quick_behind_head(t);
  uint8_t *end = put_few(s, t->L, base, first, n, p);
  if (end == NULL)
    end = put_any(s, t->L, &list, base, p);
  if (tg_likely(end != NULL))
    tg_quick_put_return(t, now, end, TG_EVF_VALUES);
  else
    return_in_full(t, ar, now);
}

/* Where results stand is told by the frame, but for those of a C function whose
   place may not fit the 16 bits that it has for that. */
void tg_quick_return_with (tg_Coroutine *t, lua_Debug *ar, uint32_t what,
                           uint64_t now) {
  uint8_t *p = tg_quick_behind_head(t);
  int first = 0, n;
  if (tg_unlikely(!tg_emit_find_results(t->L, ar, what, &first, &n))) {
    return_in_full(t, ar, now);
    return;
  }
  if (n == 0) {
    tg_quick_put_return(t, now, p, TG_EVF_NOTHING);
    return;
  }
  uint8_t *end = tg_capture_plain(t->session, tg_frame_slot(ar->i_ci), first, n,
                                  p + 1);
  if (tg_likely(is_plain_list(p, end))) {
    *p = (uint8_t)(end - p - 1);
    tg_quick_put_return(t, now, end, TG_EVF_VALUES);
  }
  else
    return_with_list(t, ar, now, first, n);
}
