/*
** quickswitch.c - see quickswitch.h. Called in the hook, on the traced thread,
** for states whose memory is read. Nothing here fails: without room the events
** are written, or counted as lost, where all others are (emit.c).
**
** Why it is true: a record that ran last, in this generation, is alive and of
** this thread (lastrun.h). A frame that returns is on its coroutine's stack,
** and found in that coroutine's record: so the record is not that of a dead one
** which had the address. And wrap's function returns only if there was no
** error, resume tells by the status of what it resumed.
*/
#include "hook/quickswitch.h"
#include "chain/arm.h"
#include "chain/emit.h"
#include "chain/lastrun.h"
#include "chain/resumechain.h"
#include "direct/frame.h"

/* ---- calls ---- */

/* The thread that 'v' is; NULL if it is something else. */
static lua_State *thread_in (tg_Slot v) {
  return (tg_slot_type(v) == LUA_TTHREAD)
         ? (lua_State *)(uintptr_t)v.u.p : NULL;
}

/* Whether it has our hook already. One that is older than the trace has to be
   armed first (builtincalls.c). */
static bool is_armed (const tg_Coroutine *t, lua_State *co) {
  return co != NULL && co != t->L && tg_arm_hears(t->session, co);
}

/* The types of a trace may want what is yielded and no other arguments. */
bool tg_quickswitch_calls (const tg_Coroutine *t, const lua_Debug *ar,
                           const tg_Closure *k) {
  uint32_t types = t->session->selection.types;
  const void *slot = tg_frame_slot(ar->i_ci);
  tg_Role role = tg_role_bits(k->what);
  if (!tg_quickswitch_only(k->what))
    return false;
  if (role == TG_ROLE_YIELD)
    return (types & TG_TYPE_ARGUMENTS) || !(types & TG_TYPE_YIELD);
  if (role == TG_ROLE_WRAPPED)
    return is_armed(t, thread_in(tg_cfunction_upvalue(tg_read_slot(slot, 0))));
  return role == TG_ROLE_RESUME && tg_direct_top(t->L, ar->i_ci) > 0
         && is_armed(t, thread_in(tg_read_slot(slot, TG_SIZE_SLOT)));
}

/* ---- returns ---- */

/* What ran last, if it is of the state of 'L' and nothing else is to be done at
   a switch: for a client, for a sampler, for traces that wait for a call. */
static tg_Coroutine *find_last (const lua_State *L) {
  tg_Coroutine *t = tg_lastrun.thread;
  if (!tg_lastrun_is(tg_lastrun.L))
    return NULL;
  const tg_Session *s = t->session;
  if (s->host.shared != tg_direct_shared(L) || s->current != t || s->sampled
      || s->await.any || tg_host_called(&s->host))
    return NULL;
  return t;
}

/* The role of the frame on top of 't', if that is the one which returns. */
static tg_Role returning (const tg_Coroutine *t, const lua_Debug *ar) {
  const tg_Frame *top = tg_coroutine_top(t);
  return (top != NULL && top->ci == ar->i_ci) ? tg_role_bits(top->what)
                                              : TG_ROLE_NONE;
}

/* 'from', on top of which is a resume, was left for the coroutine of 'L'. */
static tg_Coroutine *go_on (tg_Coroutine *from, lua_State *L,
                            const lua_Debug *ar, uint64_t now) {
  tg_Session *s = from->session;
  tg_Coroutine *t = tg_coroutines_find(&s->threads, L);
  if (t == NULL || t->running || t->id <= 1 || t->died
      || returning(t, ar) != TG_ROLE_YIELD)
    return NULL;
  tg_assert(!t->done && t->L == L);
  tg_resumechain_resume(s, t, now);
  return t;
}

/* A yield is its head alone where its values are those of the call. */
static void tell_yield (tg_Coroutine *t, lua_State *L, uint64_t now) {
  tg_Writer *r = &t->session->writer;
  if (tg_unlikely(!tg_writer_ready(r, 4, now))) {
    tg_emit_yield(t->session, t, L, NULL, now);
    return;
  }
  tg_writer_end(r, tg_writer_head(r, r->p, TG_EV_YIELD, now));
  r->packets += tg_coroutine_visible(t);
}

/* 'from', on top of which is coroutine.yield, was left for its resumer. A yield
   that could not be has raised an error, which wrap's function throws. */
static tg_Coroutine *come_back (tg_Coroutine *from, lua_State *L,
                                const lua_Debug *ar, uint64_t now) {
  tg_Coroutine *t = from->resumer;
  if (t == NULL || t->L != L || !from->yielding || from->done
      || (tg_coroutine_top(from)->what & TG_FR_HIDDEN))
    return NULL;
  tg_Role role = returning(t, ar);
  if (role == TG_ROLE_RESUME) {
    if (lua_tothread(L, 1) != from->L || lua_status(from->L) != LUA_YIELD)
      return NULL;
  }
  else if (role != TG_ROLE_WRAPPED)
    return NULL;
  tell_yield(from, L, now);
  t->session->current = t;
  from->resumer = NULL;
  from->running = from->died = false;
  return t;
}

tg_Coroutine *tg_quickswitch_arrive (lua_State *L, const lua_Debug *ar,
                                     uint64_t now) {
  tg_Coroutine *from = find_last(L);
  if (from == NULL)
    return NULL;
  tg_Role role = tg_frame_role(tg_coroutine_top(from));
  if (role == TG_ROLE_YIELD)
    return come_back(from, L, ar, now);
  if (role == TG_ROLE_RESUME || role == TG_ROLE_WRAPPED)
    return go_on(from, L, ar, now);
  return NULL;
}
