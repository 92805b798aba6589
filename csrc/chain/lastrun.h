/*
** lastrun.h - which record belongs to the coroutine that ran last on this
** thread: the one exception to "no mutable statics". A look-up costs 20 ns.
**
** What a thread remembers holds for one generation. A session that begins,
** ends, or is run by another thread than before (its home) starts a new one
** for all; so only its home may remember a session's records, and forgets
** those that die. One thing remains: a coroutine collected by the host, without
** an event, while another session's gets its address. So while more than one
** session traces, what tells the state is compared as well.
*/
#ifndef TG_LASTRUN_H
#define TG_LASTRUN_H

#include "state/session.h"

typedef struct tg_LastRun {
  lua_State *L;
  tg_Coroutine *thread;
  uint64_t generation;    /* 0: nothing is remembered */
} tg_LastRun;

extern _Thread_local tg_LastRun tg_lastrun TG_TLS_QUICK
  __attribute__((visibility("hidden")));

extern _Atomic uint64_t tg_lastrun_generation
  __attribute__((visibility("hidden")));

/* Whether 'L' ran last; then its record is tg_lastrun.thread. */
TG_INLINE bool tg_lastrun_is (const lua_State *L) {
  return tg_likely(tg_lastrun.L == L
                   && tg_lastrun.generation
                      == atomic_load_explicit(&tg_lastrun_generation,
                                              memory_order_relaxed));
}

/* The same while several sessions trace; NULL if it is not known. */
tg_Coroutine *tg_lastrun_recall (lua_State *L);

void tg_lastrun_remember (lua_State *L, tg_Coroutine *t);

/* The same where what ran last was known to, and was of the same session. */
TG_INLINE void tg_lastrun_move (lua_State *L, tg_Coroutine *t) {
  tg_assert(t->L == L && tg_lastrun.thread->session == t->session);
  tg_lastrun.L = L;
  tg_lastrun.thread = t;
}

/* The session of the coroutine that ran last, if 'L' is of the same state; else
   that is asked. NULL: none, or it does not trace. */
tg_Session *tg_lastrun_session (lua_State *L);

/* A record is about to die. */
void tg_lastrun_forget (const tg_Coroutine *t);

/* The next event is looked at as if another coroutine ran: for a signal
   handler. */
void tg_lastrun_invalidate (void);

/* The same on all threads, for callers on another thread. */
void tg_lastrun_invalidate_all (void);

/* This thread runs the session's state; 'begins': which traces from now on. */
void tg_lastrun_claim (tg_Session *s, bool begins);

/* The session traces no more. */
void tg_lastrun_leave (tg_Session *s);

#endif
