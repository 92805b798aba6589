/*
** lastrun.c - the generation that all threads share, and what each remembers.
** Called in the hook, and when tracing begins and ends. Cannot fail.
*/
#include "chain/lastrun.h"

#define ONE_GENERATION (UINT64_C(1) << 20)
#define TRACING (ONE_GENERATION - 1)    /* bits: how many sessions trace */
#define CROWDED (UINT64_C(1) << 63)     /* more than one did; never in the
                                           generation itself */

_Thread_local tg_LastRun tg_lastrun;
_Atomic uint64_t tg_lastrun_generation = ONE_GENERATION;

/* The number of tracing sessions is in the low bits of the same word, so that
   both change at once. */
static void next_generation (uint64_t change) {
  atomic_fetch_add_explicit(&tg_lastrun_generation, ONE_GENERATION + change,
                            memory_order_relaxed);
}

/* As a thread remembers it. In a crowd that never equals the generation, so
   that tg_lastrun_is says no and the registry is compared. */
static uint64_t as_remembered (void) {
  uint64_t g = atomic_load_explicit(&tg_lastrun_generation,
                                    memory_order_relaxed);
  return ((g & TRACING) > 1) ? g | CROWDED : g;
}

/* What ran last is of the state that 'L' is of. All coroutines of a state have
   one registry; where memory is read a pointer of theirs says the same. */
static bool same_state (lua_State *L) {
  const tg_Host *h = &tg_lastrun.thread->session->host;
  return h->direct ? h->shared == tg_direct_shared(L)
                   : h->registry == lua_topointer(L, LUA_REGISTRYINDEX);
}

/* Where more than one session traces, an address may be a coroutine's of
   another state by now: so its state is compared as well. */
tg_Coroutine *tg_lastrun_recall (lua_State *L) {
  if (tg_lastrun.L != L || tg_lastrun.generation != as_remembered()
      || !same_state(L))
    return NULL;
  return tg_lastrun.thread;
}

void tg_lastrun_remember (lua_State *L, tg_Coroutine *t) {
  tg_assert(t->L == L);
  tg_lastrun = (tg_LastRun){L, t, as_remembered()};
}

/* Nearly always the coroutine that comes is of the state of the one before, and
   the registry need not be asked for its session. */
tg_Session *tg_lastrun_session (lua_State *L) {
  if (tg_lastrun_is(tg_lastrun.L) && same_state(L))
    return tg_lastrun.thread->session;
  tg_Session *s = tg_session_find(L);
  return (s != NULL && tg_session_traces(s)) ? s : NULL;
}

/* One store, which a signal handler may do between any two instructions of the
   same thread. */
void tg_lastrun_invalidate (void) {
  tg_lastrun.generation = 0;
}

void tg_lastrun_invalidate_all (void) {
  next_generation(0);
}

/* A coroutine may die on another thread than its home, if a host closes the
   state there. That thread cannot reach what the home remembers, but for the
   generation. */
void tg_lastrun_forget (const tg_Coroutine *t) {
  if (!tg_host_is_home(&t->session->host))
    next_generation(0);
  else if (tg_lastrun.thread == t)
    tg_lastrun.generation = 0;
}

/* This thread is the session's home from now on; what any thread remembers is
   in doubt. 'begins': one more session traces. */
void tg_lastrun_claim (tg_Session *s, bool begins) {
  tg_host_claim(&s->host);
  next_generation(begins);
}

void tg_lastrun_leave (tg_Session *s) {
  tg_host_leave(&s->host);
  next_generation(UINT64_MAX);  /* one less */
}
