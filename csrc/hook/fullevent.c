/*
** fullevent.c - see fullevent.h. Called by hook.c, for each event that does not
** go the quick way. Without memory frames are counted as unseen.
**
** It is compiled twice from the same text: for states whose memory is read
** ('direct'), and for those where the public API is asked.
*/
#include "hook/fullevent.h"

#include "capture/crosscheck.h"
#include "capture/veil.h"
#include "chain/builtincalls.h"
#include "chain/callee.h"
#include "chain/emitcall.h"
#include "chain/lastrun.h"
#include "chain/locals.h"
#include "chain/resumechain.h"
#include "chain/stash.h"
#include "hook/quick.h"
#include "host/userhook.h"
#include "state/awaited.h"

/* ---- calls ---- */

static void lose (const tg_Coroutine *t) {
  tg_lacks_count(&t->session->writer.stream->lacks, TG_LACK_UNSEEN);
}

/* A frame that could not be kept for want of memory: events from inside it are
   counted as lost. */
static TG_NOINLINE void go_blind (tg_Coroutine *t, bool tail, uint64_t now) {
  if (tail)
    tg_emit_tail_exit(t->session, now);
  t->blind = true;
  lose(t);
}

/* The caller is not the frame on top: an error or a switched-off hook is behind
   this call, and what happened is found out and told first. False: the event is
   inside frames that could not be kept, of which nothing can be told. */
static TG_NOINLINE bool settle_call (tg_Coroutine *t, lua_State *L,
                                     lua_Debug *ar, const void *parent,
                                     uint64_t now) {
  if (t->blind && tg_coroutine_frame(t, parent) < 0) {
    lose(t);
    return false;
  }
  tg_resumechain_align(t, L, ar, 1, now);
  return true;
}

/* Flags that a frame gets from where it runs, and not from its function: so
   they are in no catalog. What our own Lua code calls counts as ours, however
   deep. */
TG_INLINE uint32_t placed (const tg_Coroutine *t, uint32_t what) {
  const tg_Frame *caller = tg_coroutine_top(t);
  if (caller != NULL && tg_unlikely(caller->what & TG_FR_OWN))
    what |= TG_FR_OWN | TG_FR_HIDDEN;
  if (tg_unlikely(tg_coroutine_visible(t) >= t->session->depth_limit))
    what |= TG_FR_HIDDEN;
  return what;
}

/* The callee is a message handler, or one of Lua's functions that we must know
   of. A handler is asked about with its value on top of the stack, where the
   public API has it anyway. */
static TG_NOINLINE void note_callee (tg_Coroutine *t, lua_State *L,
                                     lua_Debug *ar, const void *function,
                                     uint32_t what) {
  bool direct = t->session->host.direct;
  bool handler = t->handler != NULL && function == t->handler;
  bool push = direct && (handler || tg_builtincalls_needs_value(what));
  TG_STACK_GUARD(L);
  if (push)
    lua_getinfo(L, "fS", ar);
  if (handler)
    tg_stash_handler(t, L, ar, t->catches[t->ncatches - 1].frame + 1);
  if (tg_builtincalls_noted(TG_NOTED_CALLS, what))
    tg_builtincalls_call(t, L, ar, what, push || !direct);
  if (push)
    lua_pop(L, 1);
  TG_STACK_CHECK(L);
}

/* A hidden frame is on top: whether it begins a call that a trace waits for, or
   is within one, and is to be seen after all. */
TG_INLINE bool await_call (tg_Call *c) {
  const tg_Closure *k = tg_awaited_enter(c->t, c->callee);
  if (k != NULL)
    c->callee = k;
  return k != NULL;
}

/*
** Pushes the frame of a known callee and tells of the call; there is room for
** one more. Until its CALL is written the frame counts as hidden: what is
** written before that (a coroutine that is gone, a RESUME) may begin a chunk,
** whose CONTEXT would list a frame that readers have not heard of.
*/
TG_INLINE void enter_callee (tg_Call *c, bool direct) {
  tg_Coroutine *t = c->t;
  tg_Session *s = t->session;
  uint32_t what = placed(t, c->callee->what);
  tg_assert(c->callee != NULL && t->n < t->capacity);
  if (tg_unlikely(t->stashed >= t->n))
    tg_stash_deny(t, c->replaces);
  tg_assert(t->hidden <= t->n);
  t->frames[t->n++] = (tg_Frame){c->ar->i_ci, what, s->writer.epoch};
  t->hidden++;                  /* until it is told of */
  if (tg_unlikely(what & TG_FR_SECRETS))
    tg_veil_call(c);
  if (tg_unlikely(tg_builtincalls_noted(TG_NOTED_CALLS, what)
                  || (t->handler != NULL && c->function == t->handler)))
    note_callee(t, c->L, c->ar, c->function, what);
  if (tg_likely(!(what & TG_FR_HIDDEN))
      || (tg_unlikely(what & TG_FR_TARGET) && await_call(c))) {
    if (tg_unlikely(tg_locals_wanted(s)))
      tg_locals_call(c);
    t->hidden--;
    tg_emit_call(c, direct);
  }
  else {
    s->hidden_at = c->now;
    if (c->tail)
      tg_emit_tail_exit(s, c->now);
  }
}

/* A function of which nothing is known, or a frame that finds no room, makes
   all inside it unknown: shadow frames must be without gaps. */
TG_INLINE void push_call (tg_Call *c, bool direct) {
  tg_callee_find(c, direct);
  tg_crosscheck_call(c);
  if (tg_unlikely(c->callee == NULL || !tg_coroutine_room(c->t)))
    go_blind(c->t, c->tail, c->now);
  else
    enter_callee(c, direct);
}

/* The same for a tail call of a root: the callee takes the root's place,
   whatever function it is. */
static TG_NOINLINE void push_heir (tg_Call c, bool direct) {
  tg_Closure heir;
  tg_callee_find(&c, direct);
  if (c.callee != NULL && !(c.callee->what & TG_FR_OWN)) {
    heir = *c.callee;
    heir.what |= TG_FR_TARGET | TG_FR_HIDDEN;
    c.callee = &heir;
  }
  if (c.callee == NULL || !tg_coroutine_room(c.t))
    go_blind(c.t, c.tail, c.now);
  else if (direct)
    enter_callee(&c, true);
  else
    enter_callee(&c, false);
}

/* What was the root at index 'at' has exited, unless what took its place is. */
static TG_NOINLINE void settle_root (tg_Coroutine *t, uint32_t at) {
  if (at < t->n && (t->frames[at].what & TG_FR_TARGET))
    return;
  tg_awaited_exit(t, at);
  tg_awaited_review(t->session);
}

/* The frame that called the one of 'ar'; NULL if there is none. */
TG_INLINE const void *find_caller (lua_State *L, const lua_Debug *ar,
                                   bool direct) {
  if (direct)
    return tg_frame_caller(ar->i_ci);
  lua_Debug up;
  return lua_getstack(L, 1, &up) ? (const void *)up.i_ci : NULL;
}

/* With an empty shadow stack there is nothing to compare: the caller is older
   than the trace, or the host. */
TG_INLINE void on_call (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                        uint64_t now, bool direct) {
  const void *caller = find_caller(L, ar, direct);
  const tg_Frame *top = tg_coroutine_top(t);
  if (top != NULL && tg_unlikely(top->ci != caller)) {
    if (!settle_call(t, L, ar, caller, now))
      return;
  }
  tg_Call c = {t, L, ar, caller, NULL, NULL, false, false, now};
  push_call(&c, direct);
}

/*
** The callee takes the place of the frame on top, and has its CallInfo
** (luaD_pretailcall): so the frame that is gone is found by the address of the
** new one. A caller that was hidden, or older than the trace, makes it an
** ordinary call.
*/
TG_INLINE void on_tail_call (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                             uint64_t now, bool direct) {
  const void *caller = find_caller(L, ar, direct);
  tg_Call c = {t, L, ar, caller, NULL, NULL, false, true, now};
  int64_t k = tg_coroutine_frame(t, ar->i_ci);
  if (k >= 0) {
    if (k + 1 < (int64_t)t->n)
      tg_resumechain_miss(t, (uint32_t)(k + 1));
    c.tail = !(t->frames[k].what & TG_FR_HIDDEN);
    t->hidden -= !c.tail;
    t->n--;
    if (tg_unlikely(t->frames[k].what & TG_FR_TARGET)) {
      push_heir(c, direct);
      settle_root(t, (uint32_t)k);
      return;
    }
  }
  else if (t->n > 0 && !settle_call(t, L, ar, caller, now))
    return;
  push_call(&c, direct);
}

/* Rare enough for a question to the session. */
static TG_NOINLINE void tail_call (tg_Coroutine *t, lua_State *L,
                                   lua_Debug *ar, uint64_t now) {
  if (t->session->host.direct)
    on_tail_call(t, L, ar, now, true);
  else
    on_tail_call(t, L, ar, now, false);
}

/* ---- returns ---- */

/* A frame with a role, hidden, or of our own, which is on top. */
TG_INLINE void return_special (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                               uint64_t now, bool direct) {
  tg_Session *s = t->session;
  uint32_t what = tg_coroutine_top(t)->what;
  if (tg_builtincalls_noted(TG_NOTED_RETURNS, what))
    tg_builtincalls_return(t, L, ar, what);
  if (t->yielding && tg_role_bits(what) == TG_ROLE_YIELD)
    tg_resumechain_come_back(t, L, ar, now);
  tg_assert(tg_coroutine_top(t)->ci == ar->i_ci);
  t->n--;
  if (what & TG_FR_HIDDEN) {
    t->hidden--;
    s->hidden_at = now;
  }
  else {
    if (tg_role_bits(what) == TG_ROLE_KEYED) {
      tg_emit_return_again(s, L, ar, what, now);
      s->writer.packets++;
    }
    else
      tg_emit_return(t, L, ar, what, now, direct);
    if (tg_unlikely(what & TG_FR_TARGET))
      settle_root(t, t->n);
  }
}

/* The frame that returns is not the one on top. False: it is older than the
   trace, or could not be kept. */
static TG_NOINLINE bool settle_return (tg_Coroutine *t, lua_State *L,
                                       lua_Debug *ar, uint64_t now) {
  if (t->blind && tg_coroutine_frame(t, ar->i_ci) < 0) {
    lose(t);
    return false;
  }
  if (t->n > 0)
    tg_resumechain_align(t, L, ar, 0, now);
  const tg_Frame *top = tg_coroutine_top(t);
  if (top == NULL) {
    if (ar->i_ci == t->floor)
      t->floor = NULL;
    t->base_ci = NULL;
    t->based = true;
  }
  return top != NULL && top->ci == ar->i_ci;
}

/* The body of a coroutine has returned: the next event with its address is
   that of another one, or it was started anew. The last frame of a shadow stack
   is the body, unless there are older ones below it, or C has called a function
   on the coroutine while it was not running: then it is not yieldable. */
static TG_NOINLINE void note_done (tg_Coroutine *t, lua_State *L) {
  if (t->id != 1 && !t->based && lua_isyieldable(L)) {
    t->done = true;
    tg_lastrun_forget(t);
  }
}

/* The frame is popped before its return is written, so that a chunk that begins
   with it does not list it; one with a role after its role has been seen to. */
TG_INLINE void on_return (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                          uint64_t now, bool direct) {
  const tg_Frame *top = tg_coroutine_top(t);
  if (tg_unlikely(top == NULL || top->ci != ar->i_ci)) {
    if (!settle_return(t, L, ar, now))
      return;
    top = tg_coroutine_top(t);
  }
  uint32_t what = top->what;
  tg_assert(top->ci == ar->i_ci && t->hidden <= t->n);
  t->blind = false;
  if (tg_unlikely(tg_locals_wanted(t->session)))
    tg_locals_return(t, L, ar, what, now);
  if (tg_likely(!(what & TG_FR_SPECIAL))) {
    t->n--;
    tg_emit_return(t, L, ar, what, now, direct);
  }
  else
    return_special(t, L, ar, now, direct);
  if (tg_unlikely(t->n == 0))
    note_done(t, L);
}

/* ---- what comes after an event ---- */

/* What is to be done after the event: by the session, then by the program's own
   hook. 't' may be gone after the first. */
static TG_NOINLINE void after_event (const tg_Coroutine *t, lua_State *L,
                                     lua_Debug *ar) {
  tg_Session *s = t->session;
  lua_Hook user = t->user.hook;
  int mask = t->user.mask;
  if (s->after.attention)
    s->attend(s, L);
  if (user != NULL) {
    s->hooking = true;
    tg_userhook_call(user, mask, L, ar);
    s->hooking = false;
  }
}

/* Nothing of 't' may be read after this: what is done may end the trace. */
TG_INLINE void finish (const tg_Coroutine *t, lua_State *L, lua_Debug *ar) {
  if (tg_unlikely(t->session->after.attention || t->user.hook != NULL))
    after_event(t, L, ar);
}

/* ---- events ---- */

/* 'direct' is a constant wherever this is inlined, so that each of the two
   texts has its own way only. A line or a count is the program's: its hook is
   called, and nothing else is done. */
TG_INLINE void on_event (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                         uint64_t now, bool direct) {
  if (ar->event == LUA_HOOKRET)
    on_return(t, L, ar, now, direct);
  else if (tg_likely(ar->event == LUA_HOOKCALL))
    on_call(t, L, ar, now, direct);
  else if (ar->event == LUA_HOOKTAILCALL)
    tail_call(t, L, ar, now);
  if (direct)
    tg_quick_allow(t);
  tg_session_attribute(t->session, t);
  finish(t, L, ar);
}

void tg_fullevent_direct (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                          uint64_t now) {
  on_event(t, L, ar, now, true);
}

void tg_fullevent_asking (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                          uint64_t now) {
  on_event(t, L, ar, now, false);
}

/* After a function that switches coroutines the quick way ends: whose event
   comes next is not known. */
void tg_fullevent_enter (tg_Coroutine *t, lua_Debug *ar, const tg_Closure *k,
                         uint64_t now) {
  const void *frame = ar->i_ci;
  tg_Call c = {t, t->L, ar, tg_frame_caller(frame), k,
               tg_frame_function(frame).u.p, false, false, now};
  enter_callee(&c, true);
  if (tg_builtincalls_switches(k->what))
    t->quick = 0;
  else
    tg_quick_allow(t);
  tg_session_attribute(t->session, t);
  finish(t, t->L, ar);
}

void tg_fullevent_leave (tg_Coroutine *t, lua_Debug *ar, uint64_t now) {
  return_special(t, t->L, ar, now, true);
  tg_quick_allow(t);
  tg_session_attribute(t->session, t);
  finish(t, t->L, ar);
}
