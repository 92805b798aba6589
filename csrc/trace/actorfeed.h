/*
** actorfeed.h - one consumer of the stream for several traces: what an actor
** reads.
**
** A feed's selection is the union of what its traces ask for; it has one
** sequence of packets from its first trace to its last (the protocol's tracing
** state). Its own traces are consumed as they come; the program's console
** traces join every open feed, and its listener is told of them.
*/
#ifndef TG_ACTORFEED_H
#define TG_ACTORFEED_H

#include "state/session.h"

/* Creates the metatable; raises. */
void tg_actorfeed_setup (lua_State *L);                             /* [-0, +0, m] */

/* Lua: feed(listener). */
int feed_new (lua_State *L);

#endif
