/*
** newmakers.h - functions that have allocated before any sample has met them,
** where no calls are traced.
**
** What is allocated is the line's of the Lua function that runs
** (session/allocplace.h), and the stream names functions by their definitions.
** To define one is a hook's work, in which the function is on the stack: so the
** first block of a function that is not known calls for the hook that a tick
** calls for, which comes with the next instruction, call or return.
**
**     block ──> line of a prototype ──tg_newmakers_call──> hook
**                       │                                    │ walks
**                       └── function <──tg_newmakers_know────┘
**
** The hook does not come where the program counts instructions by one of its
** own, and comes late in finalizers, which have none: what such functions have
** made is of no line, if a sample is taken first.
**
** On the thread that runs the state; a session has them in its 'memory'.
*/
#ifndef TG_NEWMAKERS_H
#define TG_NEWMAKERS_H

#include "sample/stackwalk.h"

/* In the place of Lua's allocator: the hook is to come. */
void tg_newmakers_call (tg_Session *s);

/* What runs has been walked: lines get their functions. */
void tg_newmakers_know (tg_Session *s, const tg_StackWalk *w);

#endif
