/*
** clientchannel.h - the server's end of a line, for its Lua: frames as bytes of
** the wire, and notices, each at its place among the frames.
**
** The Line object is used on the server's thread alone. It counts which traces
** the client has (its members), reads their union from the follower, and writes
** it as packets, without a Lua value made on the way.
*/
#ifndef TG_CLIENTCHANNEL_H
#define TG_CLIENTCHANNEL_H

#include "binding/lx.h"
#include "channel/channel.h"

/* Creates the metatable; raises. */
void tg_clientchannel_setup (lua_State *L);                    /* [-0, +0, m] */

/*
** Pushes a Line over 'line', which it pins. Lua:
**   line:attach(yes)         whether there is a client: the program's console
**                            traces are told and join; false ends everything
**   line:start(id, options)  asks for a trace; raises for wrong options
**   line:stop(id)            asks for the trace's end
**   line:drop(id)            the trace's options do not count from here on; a
**                            trace to be kept is not kept
**   line:keep(id, options)   asks for a trace to be read later, beside the
**                            client's and even without a client, with overflow
**                            "stop"; raises for wrong options
**   line:kept(id)            ends such a trace: a stopped Trace of this state
**                            with all that is recorded; nil: it has not begun
**   line:mark(duration?)     read() is to end at what is recorded now: false,
**                            there is nothing before that; of a trace in blocks
**                            the end is told, at most 'duration' ms after its
**                            beginning
**   line:read(from, batch, bytes)
**                            the next packets of the actor 'from', framed,
**                            'bytes' and a bit; nil, there is nothing to read
**                            before the mark or the next notice
**   line:notice()            after read() was nil: the next notice, if it is
**                            due: {kind=, id=, name=, types=, why=}
**   line:names()             names of the traces that run in the program
**   line:heard()             whether the program has read debuggers' messages
**                            since the last one came
**   line:nudge()             has the program look at open requests; whether
**                            there are any
**   line:close()             everything is delivered, or never will be
*/
void tg_clientchannel_push (lua_State *L, tg_Channel *channel);
                                                              /* [-0, +1, m] */

/* The channel of such an object, which keeps it: borrowed. Raises unless it is
   open. */
tg_Channel *tg_clientchannel_check (lua_State *L, int arg);   /* [-0, +0, v] */

/* Lua: checkoptions(options), which raises for wrong options. */
int clientchannel_check_options (lua_State *L);

#endif
