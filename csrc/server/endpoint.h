/*
** endpoint.h - the traced state's end of a line: a client's wishes are carried
** out here, on the thread that runs the state, and what the program does with
** traces of its own is told.
**
** A client's trace is one of the state's traces, read through a follower by the
** server's thread. What the program starts with console.startTrace while a
** client is attached has a mirror: a hidden trace of the same options that the
** client reads, so that the program keeps its own. All of them share one
** follower from the first to the last. A trace that is to be kept (handover.h)
** is a hidden one, beside all these.
**
** Everything is done at safe points: in the hook after an event, when a call
** upon the state (interrupt.h) has come through, and in the functions that
** start and stop traces. Nothing is raised, and nothing of the program's runs.
*/
#ifndef TG_ENDPOINT_H
#define TG_ENDPOINT_H

#include "server/channel.h"
#include "state/session.h"

/*
** The state listens from now on, to signals of 'line' (pinned). False with
** errno if it cannot; raises without memory.
*/
bool tg_endpoint_open (lua_State *L, tg_Session *s, tg_Channel *channel);
                                                               /* [-0, +0, m] */

/* It listens no more; its client's traces stop, and the client is told that it
   has gone. Nothing there is fine. */
void tg_endpoint_close (lua_State *L, tg_Session *s);          /* [-0, +0, -] */

/* The same at the end of the process, when no state may be looked at. */
void tg_endpoint_leave (tg_Session *s);

/* In a forked child: the server is the parent's. */
void tg_endpoint_forked (tg_Session *s);

/* Carries out what has been asked for. The session may not be tracing any more
   afterwards. */
void tg_endpoint_turn (tg_Session *s, lua_State *L);           /* [-0, +0, -] */

/* In the hook: the same, and traces that have ended are told. */
void tg_endpoint_attend (tg_Session *s, lua_State *L);         /* [-0, +0, -] */

/* The program has started this trace of its console. */
void tg_endpoint_started (lua_State *L, tg_Trace *t);          /* [-0, +0, -] */

/* The program is about to stop an active trace. */
void tg_endpoint_stopped (lua_State *L, tg_Trace *t);          /* [-0, +0, -] */

/* Another trace has taken its name and is about to stop it; the client hears
   of that one. */
void tg_endpoint_replaced (lua_State *L, tg_Trace *t);         /* [-0, +0, -] */

/* The names of the state's traces have changed. */
void tg_endpoint_publish (const tg_Session *s);

#endif
