/*
** session.h - tracing begins and ends: the first and the last of a state's
** traces, and those in between.
*/
#ifndef TG_SESSION_H
#define TG_SESSION_H

#include "session/bounds.h"
#include "state/state.h"

/* The state's session, made if there is none; may raise. */   /* [-0, +0, m] */
tg_Session *tg_session_get (lua_State *L);

/*
** Starts 't', whose name, options, origin and 'consumed' are set; a consumed
** trace holds nothing of the stream. TG_ERR_MEMORY, TG_ERR_IO (errno: its tape
** cannot be made), and nothing has changed.
*/
tg_Status tg_session_start (tg_Session *s, lua_State *L, tg_Trace *t);

/* What an active trace has recorded is forgotten, and it begins here. False: it
   has ended by itself, or does for want of memory or of room on its tape. Not
   of a trace that somebody else reads. */
bool tg_session_restart (tg_Session *s, tg_Trace *t);

/* Stops an active trace; with the last one tracing ends. */
void tg_session_stop (tg_Session *s, lua_State *L, tg_Trace *t);

/*
** From now on 'tap', which begins where the trace began or later, reads the
** active trace 't' and nobody else does. Where the trace ends the tap is told.
*/
void tg_session_tap (tg_Session *s, tg_Trace *t, tg_Tap *tap);

/* The program's active trace of that name; its most recent one for NULL. */
tg_Trace *tg_session_trace (const tg_Session *s, const char *name);

/* All open frames exit "terminated": the state or the process ends. */
void tg_session_terminate (tg_Session *s);

/* In a forked child: live logs end, readers on other threads are gone, tapes
   are the parent's. */
void tg_session_forked (tg_Session *s);

#endif
