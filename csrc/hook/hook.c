/*
** hook.c - the events themselves: which coroutine, which frame, then what emit
** and capture make of it. Called by the interpreter on the traced thread, for
** every call and return. Without memory frames are counted as unseen.
**
** Where memory is read most events go the quick way (quick.h), and only the
** others are looked at in full. To look at one in full is compiled twice from
** the same text: for states whose memory is read ('direct'), and for those
** where the public API is asked. Which hook a session has is settled when it
** begins, so that the hook itself never asks.
*/
#include "hook/hook.h"
#include "hook/arm.h"
#include "hook/builtincalls.h"
#include "hook/callee.h"
#include "hook/crosscheck.h"
#include "hook/emitcall.h"
#include "hook/errorvalue.h"
#include "hook/lastrun.h"
#include "hook/quick.h"
#include "hook/quickswitch.h"
#include "hook/resumechain.h"
#include "hook/sampler.h"
#include "hook/stash.h"
#include "state/awaited.h"

static void hook_direct (lua_State *L, lua_Debug *ar);
static void hook_asking (lua_State *L, lua_Debug *ar);

/* Both hooks do the same for the program. The choice is for as long as the
   session traces: a state's memory does not become another one meanwhile. */
void tg_hook_begin (tg_Session *s) {
  s->hook = s->direct ? hook_direct : hook_asking;
  tg_lastrun_settle(s, true);
}

void tg_hook_end (tg_Session *s, lua_State *L) {
  tg_lastrun_leave(s);
  tg_arm_release(s, L);
}

/* A hook that was left on a coroutine nobody could reach: it may have been
   suspended, and in no list for want of memory, when tracing ended. */
static void remove_stray (lua_State *L) {
  lua_Hook hook = lua_gethook(L);
  if (hook == hook_direct || hook == hook_asking)
    lua_sethook(L, NULL, 0, 0);
}

/* The process ends, or the state closes, inside of all that runs: one event for
   all frames of the chain, whose records are then as if nothing had ever run
   on them. Frames of suspended coroutines have exited with their yields. */
void tg_hook_terminate (tg_Session *s) {
  uint32_t visible = 0;
  for (tg_Coroutine *t = s->current; t != NULL; t = t->resumer) {
    visible += tg_coroutine_visible(t);
    t->n = t->hidden = t->below = 0;
  }
  tg_emit_plain(s, TG_EV_TERMINATE, visible, tg_clock_ticks());
}

/* ---- calls ---- */

/* A frame that could not be kept for want of memory: events from inside it are
   counted as lost. */
static TG_NOINLINE void go_blind (tg_Coroutine *t, bool tail, uint64_t now) {
  if (tail)
    tg_emit_tail_exit(t->session, now);
  t->blind = true;
  t->session->unseen++;
}

/* The caller is not the frame on top: an error or a switched-off hook is behind
   this call, and what happened is found out and told first. False: the event is
   inside frames that could not be kept, of which nothing can be told. */
static TG_NOINLINE bool settle_call (tg_Coroutine *t, lua_State *L,
                                     lua_Debug *ar, const void *parent,
                                     uint64_t now) {
  if (t->blind && tg_coroutine_frame(t, parent) < 0) {
    t->session->unseen++;
    return false;
  }
  tg_resumechain_settle(t, L, ar, 1, now);
  return true;
}

/* Flags that a frame gets from where it runs, and not from its function: so
   they are in no catalog. What our own Lua code calls counts as ours, however
   deep. */
TG_INLINE uint32_t placed (const tg_Coroutine *t, uint32_t what) {
  const tg_Frame *caller = tg_coroutine_top(t);
  if (caller != NULL && tg_unlikely(caller->what & TG_FR_OWN))
    what |= TG_FR_OWN | TG_FR_HIDDEN;
  if (tg_unlikely(tg_coroutine_depth(t) >= t->session->depth_limit))
    what |= TG_FR_HIDDEN;
  return what;
}

/* The callee is a message handler, or one of Lua's functions that we must know
   of. A handler is asked about with its value on top of the stack, where the
   public API has it anyway. */
static TG_NOINLINE void note_callee (tg_Coroutine *t, lua_State *L,
                                     lua_Debug *ar, const void *function,
                                     uint32_t what) {
  bool direct = t->session->direct;
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
  if (tg_unlikely(tg_builtincalls_noted(TG_NOTED_CALLS, what)
                  || (t->handler != NULL && c->function == t->handler)))
    note_callee(t, c->L, c->ar, c->function, what);
  if (tg_likely(!(what & TG_FR_HIDDEN))
      || (tg_unlikely(what & TG_FR_TARGET) && await_call(c))) {
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

/* The same in place of a root, which hands its call on: whatever the callee is,
   it is one now. */
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
  if (t->session->direct)
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
    t->session->unseen++;
    return false;
  }
  if (t->n > 0)
    tg_resumechain_settle(t, L, ar, 0, now);
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
  if (tg_likely(!(what & TG_FR_SPECIAL))) {
    t->n--;
    tg_emit_return(t, L, ar, what, now, direct);
  }
  else
    return_special(t, L, ar, now, direct);
  if (tg_unlikely(t->n == 0))
    note_done(t, L);
}

/* ---- the program's own hook ---- */

/* It may raise, yield, or stop the trace: the last thing done but for saying
   that it has returned. */
static TG_NOINLINE void call_user_hook (lua_Hook hook, int mask, lua_State *L,
                                        lua_Debug *ar) {
  if (ar->event != LUA_HOOKLINE)
    ar->currentline = -1;       /* our lua_getinfo may have filled it */
  if (mask & lx_event_mask(ar->event))
    hook(L, ar);
}

/* A client's commands come before the event, of which the new trace then has
   all. False: with them tracing ended, and the event is only the program's. */
static TG_NOINLINE bool answer (tg_Session *s, lua_State *L, lua_Debug *ar) {
  s->attend(s, L);
  if (s->tracing)
    return true;
  lua_Hook hook = lua_gethook(L);
  if (hook != NULL)
    call_user_hook(hook, lua_gethookmask(L), L, ar);
  return false;
}

/*
** An event on another coroutine than the last one, or one that somebody has
** made doubtful (lastrun.h). NULL: not to be traced. In the order of cost: the
** same one after all; no session, since a hook was left behind; another thread
** than before; somebody who called for the session; and at last a coroutine
** that was resumed, or left. A line or a count switches nothing: they are not
** ours, and the next call or return will find out.
*/
static TG_NOINLINE tg_Coroutine *switch_to (lua_State *L, lua_Debug *ar,
                                            uint64_t now) {
  tg_Coroutine *t = tg_lastrun_recall(L);
  if (t != NULL)
    return t;
  tg_Session *s = tg_lastrun_session(L);
  if (s == NULL) {
    remove_stray(L);
    return NULL;
  }
  if (tg_unlikely(!tg_lastrun_home(s)))
    tg_lastrun_settle(s, false);
  if (tg_unlikely(tg_session_called(s)) && !answer(s, L, ar))
    return NULL;
  t = s->current;
  if (ar->event == LUA_HOOKLINE || ar->event == LUA_HOOKCOUNT)
    return tg_coroutines_find(&s->threads, L);
  if (t == NULL || t->L != L || t->done)
    t = tg_resumechain_enter(s, L, ar, now);
  if (t == NULL) {
    s->unseen++;
    return NULL;
  }
  tg_assert(t == s->current && t->running);
  tg_lastrun_remember(L, t);
  if (tg_unlikely(s->sampled))
    tg_sampler_take(s, L, ar, now);
  return t;
}

/* ---- the hook ---- */

/* What is to be done after the event: by the session, then by the program's own
   hook. 't' may be gone after the first. */
static TG_NOINLINE void after_event (const tg_Coroutine *t, lua_State *L,
                                     lua_Debug *ar) {
  tg_Session *s = t->session;
  lua_Hook user = t->user_hook;
  int mask = t->user_mask;
  if (s->attention)
    s->attend(s, L);
  if (user != NULL) {
    s->hooking = true;
    call_user_hook(user, mask, L, ar);
    s->hooking = false;
  }
}

/* Nothing of 't' may be read after this: what is done may end the trace. */
TG_INLINE void finish (const tg_Coroutine *t, lua_State *L, lua_Debug *ar) {
  if (tg_unlikely(t->session->attention || t->user_hook != NULL))
    after_event(t, L, ar);
}

/* Any event, in full. 'direct' is a constant wherever this is inlined, so that
   each of the two texts has its own way only. A line or a count is the
   program's: its hook is called, and nothing else is done. */
TG_INLINE void on_event (lua_State *L, lua_Debug *ar, uint64_t now,
                         bool direct) {
  tg_Coroutine *t = tg_lastrun_is(L) ? tg_lastrun.thread
                                     : switch_to(L, ar, now);
  if (tg_unlikely(t == NULL))
    return;
  if (ar->event == LUA_HOOKRET)
    on_return(t, L, ar, now, direct);
  else if (tg_likely(ar->event == LUA_HOOKCALL))
    on_call(t, L, ar, now, direct);
  else if (ar->event == LUA_HOOKTAILCALL)
    tail_call(t, L, ar, now);
  if (direct)
    tg_quick_settle(t);
  tg_session_attribute(t->session, t);
  finish(t, L, ar);
}

/* A return that goes the quick way, of what nothing is to be noted of. */
TG_INLINE void put_return (tg_Coroutine *t, lua_Debug *ar, uint32_t what,
                           uint64_t now) {
  if (t->session->selection.types & TG_TYPE_RETURN)
    tg_quick_return_with(t, ar, what, now);
  else
    tg_quick_put_return(t, now, t->session->writer.p + 4, 0);
}

/* The same of a call. */
TG_INLINE void put_call (tg_Coroutine *t, lua_Debug *ar, const tg_Closure *k,
                         uint64_t now) {
  uint32_t types = t->session->selection.types;
  uint8_t *p = t->session->writer.p + 8;
  if (types & TG_TYPE_CALLSITE)
    tg_quick_call_from(t, ar, k, now);
  else if (types & TG_TYPE_ARGUMENTS)
    tg_quick_call_with(t, ar, k, now, p, TG_EV_CALL);
  else
    tg_quick_put_call(t, ar, k, now, p, TG_EV_CALL);
}

/* A return by which another coroutine runs than at the last event, as was to be
   expected. False: the event is still to be told of, if not the switch. */
static bool return_to_other (lua_State *L, lua_Debug *ar, uint64_t now) {
  tg_Coroutine *t = tg_quickswitch_arrive(L, ar, now);
  if (t == NULL)
    return false;
  tg_lastrun_move(L, t);
  tg_quick_settle(t);
  tg_session_attribute(t->session, t);
  const tg_Frame *f = tg_quick_returning(t, ar);
  if (tg_unlikely(f == NULL || !tg_quickswitch_only(f->what)
                  || !tg_quick_room(t, now)))
    return false;
  put_return(t, ar, f->what, now);
  return true;
}

/* An event that does not go the quick way. */
static TG_NOINLINE void event_direct (lua_State *L, lua_Debug *ar,
                                      uint64_t now) {
  if (ar->event != LUA_HOOKRET || TG_CROSSCHECKED
      || !return_to_other(L, ar, now))
    on_event(L, ar, now, true);
}

/* On a machine whose clock is a function. */
static TG_NOINLINE void event_clocked (lua_State *L, lua_Debug *ar) {
  on_event(L, ar, tg_clock_ticks(), true);
}

/* A call of a function with a role, or of one that is hidden: all that the
   quick way asks has been answered, but 'placed', notes and hiding are for the
   full one. After a function that switches coroutines the quick way ends: whose
   event comes next is not known. */
static TG_NOINLINE void call_special (tg_Coroutine *t, lua_Debug *ar,
                                      const tg_Closure *k, uint64_t now) {
  const void *frame = ar->i_ci;
  if (tg_quick_hides(k->what)) {
    tg_quick_hide(t, ar, k, now);
    return;
  }
  if (tg_quickswitch_calls(t, ar, k) && tg_quick_room(t, now)) {
    t->yielding |= tg_role_bits(k->what) == TG_ROLE_YIELD;
    put_call(t, ar, k, now);
    t->quick = 0;
    return;
  }
  tg_Call c = {t, t->L, ar, tg_frame_caller(frame), k,
               tg_frame_function(frame).u.p, false, false, now};
  enter_callee(&c, true);
  if (tg_builtincalls_switches(k->what))
    t->quick = 0;
  else
    tg_quick_settle(t);
  tg_session_attribute(t->session, t);
  finish(t, t->L, ar);
}

/* A call of a function that takes a longer look to be sure of: it shares its
   line, or has a long source, as whatever was loaded by a long path. */
static TG_NOINLINE void call_unsure (tg_Coroutine *t, lua_Debug *ar,
                                     const tg_Closure *k, uint64_t now) {
  bool holds = tg_catalog_holds(t->session, k, tg_frame_function(ar->i_ci));
  if (holds && (k->what & TG_FR_SPECIAL))
    call_special(t, ar, k, now);
  else if (holds && tg_quick_room(t, now))
    put_call(t, ar, k, now);
  else
    event_direct(t->L, ar, now);
}

/* The return of what call_special has entered. */
static TG_NOINLINE void return_from_special (tg_Coroutine *t, lua_Debug *ar,
                                              uint64_t now) {
  if (tg_quick_hides(tg_coroutine_top(t)->what)) {
    tg_quick_unhide(t, now);
    return;
  }
  return_special(t, t->L, ar, now, true);
  tg_quick_settle(t);
  tg_session_attribute(t->session, t);
  finish(t, t->L, ar);
}

/* The quick way of a call. False: nothing has been done. What is special asks
   for room itself, if it needs any. */
TG_INLINE bool quick_call (tg_Coroutine *t, lua_Debug *ar, uint64_t now) {
  bool sure;
  const tg_Closure *k = tg_quick_callee(t, ar, &sure);
  if (tg_unlikely(k == NULL))
    return false;
  if (tg_unlikely(!sure)) {
    call_unsure(t, ar, k, now);
    return true;
  }
  if (tg_unlikely(k->what & TG_FR_SPECIAL)) {
    call_special(t, ar, k, now);
    return true;
  }
  TG_QUICK_FORGET();
  if (tg_unlikely(!tg_quick_room(t, now)))
    return false;
  put_call(t, ar, k, now);
  return true;
}

/* The same of a return. */
TG_INLINE bool quick_return (tg_Coroutine *t, lua_Debug *ar, uint64_t now) {
  const tg_Frame *f = tg_quick_returning(t, ar);
  if (tg_unlikely(f == NULL))
    return false;
  if (tg_unlikely(f->what & TG_FR_SPECIAL)) {
    return_from_special(t, ar, now);
    return true;
  }
  if (tg_unlikely(!tg_quick_room(t, now)))
    return false;
  put_return(t, ar, f->what, now);
  return true;
}

/* Each branch ends in a call that the compiler makes a jump, so that nothing
   has to be saved on the usual way. While both ways are compared there is no
   quick one: it would leave nothing to compare. */
static void hook_direct (lua_State *L, lua_Debug *ar) {
  uint64_t now;
  bool quick = false;
  if (tg_unlikely(!tg_clock_glance(&now))) {
    event_clocked(L, ar);
    return;
  }
  if (tg_likely(tg_lastrun_is(L)) && !TG_CROSSCHECKED) {
    tg_Coroutine *t = tg_lastrun.thread;
    if (ar->event == LUA_HOOKRET)
      quick = quick_return(t, ar, now);
    else if (ar->event == LUA_HOOKCALL)
      quick = quick_call(t, ar, now);
    L = t->L;                   /* the same, in no register until here */
  }
  if (tg_unlikely(!quick))
    event_direct(L, ar, now);
}

/* Every look by the public API is a full one: what it costs to ask leaves
   nothing to be won by a quick way. */
static void hook_asking (lua_State *L, lua_Debug *ar) {
  on_event(L, ar, tg_clock_ticks(), false);
}
