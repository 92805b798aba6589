/*
** hook.c - the hook itself: which coroutine an event is on, and which way it
** goes. Called by the interpreter on the traced thread, for every call and
** return.
**
** Where memory is read most events go the quick way (quick.h), and only the
** others are looked at in full (fullevent.h). Which hook a session has is
** settled when it begins, so that the hook itself never asks.
*/
#include "hook/hook.h"

#include "capture/crosscheck.h"
#include "chain/arm.h"
#include "chain/builtincalls.h"
#include "chain/emit.h"
#include "chain/lastrun.h"
#include "chain/resumechain.h"
#include "chain/window.h"
#include "hook/fullevent.h"
#include "hook/quick.h"
#include "hook/quickswitch.h"
#include "host/userhook.h"
#include "sample/sampler.h"

static void hook_direct (lua_State *L, lua_Debug *ar);
static void hook_asking (lua_State *L, lua_Debug *ar);

static const tg_HookLayer direct_layer = {
  .hook = hook_direct, .below = tg_arm_below, .cover = tg_builtincalls_cover
};

static const tg_HookLayer asking_layer = {
  .hook = hook_asking, .below = tg_arm_below, .cover = tg_builtincalls_cover
};

/* Both hooks do the same for the program. The choice is for as long as the
   session traces: a state's memory does not become another one meanwhile. */
void tg_hook_begin (tg_Session *s) {
  tg_hooks_know(&s->host, TG_HOOK_TRACER,
                s->host.direct ? &direct_layer : &asking_layer);
  tg_lastrun_claim(s, true);
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
    t->n = t->hidden = 0;
  }
  tg_emit_plain(s, TG_EV_TERMINATE, visible, tg_clock_ticks());
}

/* ---- which coroutine ---- */

/* A client's commands come before the event, of which the new trace then has
   all. False: with them tracing ended, and the event is only the program's. */
static TG_NOINLINE bool answer (tg_Session *s, lua_State *L, lua_Debug *ar) {
  s->attend(s, L);
  if (tg_session_traces(s))
    return true;
  lua_Hook hook = lua_gethook(L);
  if (hook != NULL)
    tg_userhook_call(hook, lua_gethookmask(L), L, ar);
  return false;
}

/*
** An event on another coroutine than the last one, or one that somebody has
** made doubtful (lastrun.h). NULL: not to be traced. In the order of cost: the
** same one after all; no session, since a hook was left behind; another thread
** than before; a window that is open, or over (window.h); somebody who called
** for the session; and at last a coroutine that was resumed, or left. A line or
** a count switches nothing: they are not ours, and the next call or return will
** find out.
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
  if (tg_unlikely(!tg_host_is_home(&s->host)))
    tg_lastrun_claim(s, false);
  if (tg_unlikely(s->window.state != TG_WINDOW_SHUT)
      && tg_window_passes(s, L, ar, now))
    return NULL;
  if (tg_unlikely(tg_host_called(&s->host)) && !answer(s, L, ar))
    return NULL;
  t = s->current;
  if (ar->event == LUA_HOOKLINE || ar->event == LUA_HOOKCOUNT)
    return tg_coroutines_find(&s->threads, L);
  if (t == NULL || t->L != L || t->done)
    t = tg_resumechain_enter(s, L, ar, now);
  if (t == NULL) {
    tg_lacks_count(&s->writer.stream->lacks, TG_LACK_UNSEEN);
    return NULL;
  }
  tg_assert(t == s->current && t->running);
  tg_lastrun_remember(L, t);
  if (tg_unlikely(s->sampled))
    tg_sampler_sample(s, L, ar, now);
  return t;
}

/* Of the coroutine that runs: NULL as above. */
TG_INLINE tg_Coroutine *find_running (lua_State *L, lua_Debug *ar,
                                      uint64_t now) {
  return tg_lastrun_is(L) ? tg_lastrun.thread : switch_to(L, ar, now);
}

/* ---- the quick way, and off it ---- */

/* A return that goes the quick way, of what nothing is to be noted of. */
TG_INLINE void put_return (tg_Coroutine *t, lua_Debug *ar, uint32_t what,
                           uint64_t now) {
  if (t->session->selection.types & TG_TYPE_RETURN)
    tg_quick_return_with(t, ar, what, now);
  else
    tg_quick_put_return(t, now, tg_quick_behind_head(t), 0);
}

/* The same of a call. */
TG_INLINE void put_call (tg_Coroutine *t, lua_Debug *ar, const tg_Closure *k,
                         uint64_t now) {
  uint32_t types = t->session->selection.types;
  uint8_t *p = tg_quick_behind_function(t);
  if (types & TG_TYPE_CALLSITE)
    tg_quick_call_from(t, ar, k, now);
  else if (types & TG_TYPE_ARGUMENTS)
    tg_quick_call_with(t, ar, k, now, p, 0);
  else
    tg_quick_put_call(t, ar, k, now, p, TG_EVF_FAR);
}

/* A return by which another coroutine runs than at the last event, as was to be
   expected. False: the event is still to be told of, if not the switch. */
static bool return_to_other (lua_State *L, lua_Debug *ar, uint64_t now) {
  tg_Coroutine *t = tg_quickswitch_arrive(L, ar, now);
  if (t == NULL)
    return false;
  tg_lastrun_move(L, t);
  tg_quick_allow(t);
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
  if (ar->event == LUA_HOOKRET && !TG_CROSSCHECKED
      && return_to_other(L, ar, now))
    return;
  tg_Coroutine *t = find_running(L, ar, now);
  if (tg_likely(t != NULL))
    tg_fullevent_direct(t, L, ar, now);
}

/* On a machine whose clock is a function. */
static TG_NOINLINE void event_clocked (lua_State *L, lua_Debug *ar) {
  uint64_t now = tg_clock_ticks();
  tg_Coroutine *t = find_running(L, ar, now);
  if (t != NULL)
    tg_fullevent_direct(t, L, ar, now);
}

/* A call of a function with a role, or of one that is hidden: all that the
   quick way asks has been answered, but what a frame gets from its place, notes
   and hiding are for the full one. After a function that switches coroutines
   the quick way ends: whose event comes next is not known. */
static TG_NOINLINE void call_special (tg_Coroutine *t, lua_Debug *ar,
                                      const tg_Closure *k, uint64_t now) {
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
  tg_fullevent_enter(t, ar, k, now);
}

/* A call of a function that takes a longer look to be sure of: it shares its
   line, or has a long source, as whatever was loaded by a long path. */
static TG_NOINLINE void call_unsure (tg_Coroutine *t, lua_Debug *ar,
                                     const tg_Closure *k, uint64_t now) {
  bool holds = tg_catalog_is_slot(t->session, k, tg_frame_function(ar->i_ci));
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
  tg_fullevent_leave(t, ar, now);
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
    if (tg_likely(quick))       /* 't' is gone if a client ended the trace */
      return;
    L = t->L;                   /* the same, in no register until here */
  }
  event_direct(L, ar, now);
}

/* Every look by the public API is a full one: what it costs to ask leaves
   nothing to be won by a quick way. */
static void hook_asking (lua_State *L, lua_Debug *ar) {
  uint64_t now = tg_clock_ticks();
  tg_Coroutine *t = find_running(L, ar, now);
  if (tg_likely(t != NULL))
    tg_fullevent_asking(t, L, ar, now);
}
