/*
** tracing.h - tracing begins and ends: the first and the last of a state's
** traces, and those in between.
*/
#ifndef TG_TRACING_H
#define TG_TRACING_H

#include "session/tracelimits.h"
#include "state/session.h"


/*
** Starts 't', whose name, options, origin and 'consumed' are set; a consumed
** trace holds nothing of the stream. TG_ERR_MEMORY, TG_ERR_IO (errno: its file
** cannot be made, or it is 'clockless'), and nothing has changed.
*/
tg_Status tg_tracing_start (tg_Session *s, lua_State *L, tg_Trace *t);

/* What an active trace has recorded is forgotten, and it begins here. False: it
   has ended by itself, or does for want of memory or of room on its file. Not
   of a trace that somebody else reads. */
bool tg_tracing_restart (tg_Session *s, tg_Trace *t);

/* Stops an active trace; with the last one tracing ends. */
void tg_tracing_stop (tg_Session *s, lua_State *L, tg_Trace *t);

/*
** From now on 'follower', which begins where the trace began or later, reads
** the active trace 't' and nobody else does. Where the trace ends the follower
** is told.
*/
void tg_tracing_tap (tg_Session *s, tg_Trace *t, tg_Follower *follower);

/* The program's active trace of that name; its most recent one for NULL. */
tg_Trace *tg_tracing_trace (const tg_Session *s, const char *name);

/* All open frames exit "terminated": the state or the process ends. */
void tg_tracing_terminate (tg_Session *s);

/* What is to be done after an event: the session's 'attend'. */
void tg_tracing_attend (tg_Session *s, lua_State *L);          /* [-0, +0, -] */

#endif
