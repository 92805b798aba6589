/*
** tracer.h - the tracer begins in a state, forks, exits and closes with it.
**
** At exit the session of the exiting thread ends in order: its frames exit
** "terminated", its live logs get their last line, its file is closed. Those of
** other threads may be at work and are left alone; what they wrote is written.
**
** A forked child goes on tracing on the thread that forked, into its own copy
** of the memory. Its live logs end there without a word, since they are the
** parent's; traces read by another thread (follower.h) have lost their reader;
** one with a file gets a file of its own with its first event.
*/
#ifndef TG_TRACER_H
#define TG_TRACER_H

#include "state/session.h"

/* The session of the state 'L' belongs to, made if there is none, with its
   host. Raises for want of memory, and if the state is about to close. */
tg_Session *tg_tracer_get (lua_State *L);                      /* [-0, +0, m] */

#endif
