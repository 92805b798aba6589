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
void tg_feed_setup (lua_State *L);                             /* [-0, +0, m] */

/* Lua: feed(listener). */
int feed_new (lua_State *L);

/*
** The three that follow call listeners, which are the program's and may do
** anything: afterwards any trace may have been stopped, the given one too.
*/

/* Asks every open feed to read what there is, before things change. */
void tg_feeds_flush (lua_State *L);                            /* [-0, +0, m] */

/* A console trace was started: it joins every open feed, as long as it runs. */
void tg_feeds_started (lua_State *L, tg_Trace *t);             /* [-0, +0, m] */

/* A trace is about to stop: it leaves the feeds, which are told. */
void tg_feeds_stopped (lua_State *L, tg_Trace *t);             /* [-0, +0, m] */

/*
** A trace was replaced by one of that origin, which is about to join the feeds
** (console), one feed (its own), or none: the old one leaves them.
*/
void tg_feeds_replaced (tg_Session *s, tg_Trace *old, tg_Origin origin,
                        const struct tg_Feed *joins);          /* [-0, +0, -] */

/* Whether some feed has this trace. */
bool tg_feeds_watch (const tg_Trace *t);

#endif
