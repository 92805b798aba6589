/*
** trace.h - named traces as Lua sees them: the Trace object, the console's
** functions, and the rules of names.
**
** A Trace is a userdata that owns a tg_Trace. While active it is in the
** session's list; those that the program did not keep itself are anchored
** (anchor.h).
*/
#ifndef TG_TRACE_H
#define TG_TRACE_H

#include "state/session.h"

/* Creates the metatable; raises. What reads a Trace adds methods (lib.c). */
void tg_trace_setup (lua_State *L);                            /* [-0, +0, m] */

struct tg_Observer;

/* Pushes a new Trace, not started: its options are to be filled. */
tg_Trace *tg_trace_new (lua_State *L);                         /* [-0, +1, m] */

/*
** Starts 't'. A running trace of that name is discarded; without a name one is
** generated. With TG_ORIGIN_FEED it is consumed by a feed, 'heir' as observer
** (observer.h), which then has it; else NULL. With TG_ORIGIN_LOG it is consumed
** by a log, with TG_ORIGIN_FILE recorded as its plan says. Raises without
** memory; false (with errno) if its file cannot be had, or the program's own
** trace no clock for its samples; then nothing has changed.
*/
bool tg_trace_begin (lua_State *L, tg_Trace *t, const char *name,
                     tg_Origin origin, const struct tg_Observer *heir);
                                                               /* [-0, +0, v] */

/* Keeps the Trace on top of the stack alive (anchor.h). */
void tg_trace_anchor (lua_State *L, tg_Trace *t);              /* [-0, +0, m] */

/* Pushes the Trace object of 't'. */
void tg_trace_push (lua_State *L, const tg_Trace *t);          /* [-0, +1, -] */

/* Stops 't' and lets go of the anchor. */
void tg_trace_halt (lua_State *L, tg_Trace *t);                /* [-0, +0, -] */

/* The same, and what it holds goes now: the collector does not see how much
   that is. What is left of it is empty. */
void tg_trace_forget (lua_State *L, tg_Trace *t);              /* [-0, +0, -] */

/* Pushes nil, 'message', 'code': what the world's refusals look like. */
int tg_trace_failure (lua_State *L, const char *code,
                      const char *message);                    /* [-0, +3, m] */

/* Lua: start(options); watch(options), which a tool around the program starts
   and the program does not see, until it says forget(trace); restart(trace), of
   such a one or of a recording; startTrace(name, options), stopTrace(name). */
int trace_start (lua_State *L);
int trace_watch (lua_State *L);
int trace_restart (lua_State *L);
int trace_pause (lua_State *L);
int trace_resume (lua_State *L);
int trace_forget (lua_State *L);
int console_start (lua_State *L);
int console_stop (lua_State *L);

#endif
