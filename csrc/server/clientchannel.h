/*
** clientchannel.h - the server's end of a line, for its Lua: frames as bytes of
** the wire, and notices, each where it belongs among them.
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
**   line:start(id, options)  asks for a trace; raises what is wrong with them
**   line:stop(id)            asks for its end
**   line:drop(id)            what it asked for does not count from here on; of
**                            one to be kept, it is not kept
**   line:keep(id, options)   asks for a trace to be read later, beside the
**                            client's and whether or not there is one, with
**                            overflow "stop"; raises what is wrong with the
**                            options
**   line:kept(id)            ends it: a stopped Trace of this state, of what
**                            there is now; nil, if it has not begun
**   line:mark(duration?)     read() is to end at what is recorded now: false,
**                            there is nothing before it; of a trace in blocks
**                            its end is told, at most 'duration' ms after its
**                            beginning
**   line:read(from, batch, bytes)
**                            the next packets of the actor 'from', framed,
**                            'bytes' and a bit; nil, there is nothing to read
**                            before the mark or the next notice
**   line:notice()            after read() was nil: the next notice, if it is
**                            due: {kind=, id=, name=, types=, why=}
**   line:names()             of the traces that run in the program
**   line:heard()             whether the program has read debuggers' messages
**                            since the last one came
**   line:nudge()             sees to it that what was asked for is looked at;
**                            whether it has yet to be
**   line:close()             all is delivered, or never will be
*/
void tg_clientchannel_push (lua_State *L, tg_Channel *channel);
                                                              /* [-0, +1, m] */

/* Lua: checkoptions(options), which raises what is wrong with them. */
int clientchannel_check_options (lua_State *L);

#endif
