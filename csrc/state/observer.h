/*
** observer.h - who is told of what happens to a session's traces: the feeds of
** actors, and the endpoint of the server's thread.
**
** An observer is a part of the object that registers it, and is told as long
** as it is registered; by then its session is there. The last to come is the
** first to be told, but for the endpoint, which is told after all others: what
** listeners of feeds do is the program's, and a client is to hear of what is
** left of it.
**
** Listeners may do anything: register and leave, start, stop and replace any
** trace. So may finalizers, wherever Lua may collect garbage. Therefore the
** next observer is looked up anew after each that was told, and none is told
** that has come meanwhile.
**
** All on the thread that runs the state.
*/
#ifndef TG_OBSERVER_H
#define TG_OBSERVER_H

#include "state/session.h"

typedef struct tg_Observer tg_Observer;

/* What an observer wants to hear; NULL: not that. Traces that are named are on
   the Lua stack, or nothing of the program runs before they are looked at. */
typedef struct tg_ObserverMethods {
  /* The program is about to start or to stop a trace of its own: what has been
     asked for before comes before. */
  void (*turn) (tg_Observer *o, lua_State *L);                 /* [-0, +0, -] */
  /* Whether the observer reads this trace and must flush before it stops. */
  bool (*watches) (const tg_Observer *o, const tg_Trace *t);
  /* Things are about to change: it reads what there is. */
  void (*flush) (tg_Observer *o, lua_State *L);                /* [-0, +0, m] */
  /* The program has started a trace of its console; it may have stopped since,
     and no longer have a session. */
  void (*started) (tg_Observer *o, lua_State *L, tg_Trace *t); /* [-0, +0, m] */
  /* The program is about to stop it; the same. */
  void (*stopped) (tg_Observer *o, lua_State *L, tg_Trace *t); /* [-0, +0, m] */
  /* Another trace has its name, or it is to be forgotten: it is left without a
     word. 'heir': the observer gets the new one at once. */
  void (*replaced) (tg_Observer *o, lua_State *L, tg_Trace *t, bool heir);
                                                               /* [-0, +0, -] */
  /* In the hook, after an event. The session may not trace afterwards. */
  void (*attend) (tg_Observer *o, lua_State *L);               /* [-0, +0, -] */
  /* The names of the session's traces have changed. */
  void (*publish) (tg_Observer *o);
} tg_ObserverMethods;

struct tg_Observer {
  const tg_ObserverMethods *methods;
  tg_Session *session;        /* borrows; NULL: not registered */
  tg_Observer *next;          /* the one to be told after it */
  uint64_t order;             /* larger than that one's; 0: the last of all */
};

/* Registers 'o', whose methods are set: first of all, or last. */
void tg_observers_add (tg_Session *s, tg_Observer *o);
void tg_observers_add_last (tg_Session *s, tg_Observer *o);
void tg_observers_remove (tg_Observer *o);

/* ---- telling all; a session that is NULL has none ---- */

void tg_observers_turn (tg_Session *s, lua_State *L);
bool tg_observers_watch (const tg_Session *s, const tg_Trace *t);
void tg_observers_flush (tg_Session *s, lua_State *L);
void tg_observers_started (tg_Session *s, lua_State *L, tg_Trace *t);
void tg_observers_stopped (tg_Session *s, lua_State *L, tg_Trace *t);
/* 'all' get the new trace, or only 'heir' (NULL: none). */
void tg_observers_replaced (tg_Session *s, lua_State *L, tg_Trace *t, bool all,
                            const tg_Observer *heir);
void tg_observers_attend (tg_Session *s, lua_State *L);
void tg_observers_publish (tg_Session *s);

#endif
