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
** start and stop traces. The endpoint is told of these as an observer of the
** session (observer.h). Nothing is raised, and nothing of the program's runs.
*/
#ifndef TG_ENDPOINT_H
#define TG_ENDPOINT_H

#include "channel/channel.h"
#include "state/session.h"

/* The state goes on in a forked child of the process that listened, which has
   ended: called at a safe point, once. */
typedef void tg_Orphaned (tg_Session *s, lua_State *L);        /* [-0, +0, -] */

/*
** The state listens from now on, to signals of the channel (pinned). False with
** errno if it cannot; raises without memory.
*/
bool tg_endpoint_open (lua_State *L, tg_Session *s, tg_Channel *channel,
                       tg_Orphaned *orphaned);                 /* [-0, +0, m] */

/* It listens no more; its client's traces stop, and the client is told that it
   has gone. Nothing there is fine. */
void tg_endpoint_close (lua_State *L, tg_Session *s);          /* [-0, +0, -] */

/* Carries out what has been asked for. The session may not be tracing any more
   afterwards. */
void tg_endpoint_turn (tg_Session *s, lua_State *L);           /* [-0, +0, -] */

/* The channel of a state that listens (borrowed), or NULL. */
tg_Channel *tg_endpoint_channel (const tg_Session *s);

#endif
