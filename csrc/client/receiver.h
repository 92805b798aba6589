/*
** receiver.h - a client's end of a blockstream (channel/blockstream.h): the
** stream of a program elsewhere becomes one of this process, chunk by chunk,
** and has what a local trace has: the live log, and a recording on a file.
**
** The bytes may come from anywhere. What is no blockstream ends it; events are
** believed by nobody before a reader has looked at them.
*/
#ifndef TG_RECEIVER_H
#define TG_RECEIVER_H

#include "binding/lx.h"

/* Creates the metatable; raises. */
void tg_receiver_setup (lua_State *L);                         /* [-0, +0, m] */

/*
** Lua: receive(options, style, file, profiled, spans) -> Receiver. The options
** are those of the trace as it was asked for; 'style' that of its log, or nil;
** 'file' what it is to be recorded on, or nil: {path, name, program, pid};
** 'profiled' whether it is added up as well; 'spans' how its calls are to be
** written as spans, or nil (livespans.h). Nothing is opened before the trace
** has begun or ended.
**   receiver:feed(bytes)   true | nil, message, code: EBADMSG for what is none
**   receiver:pump()        writes what is new; the same
**   receiver:finish(why)   the end, why as in stoppedTrace; the same
**   receiver:lost(cause)   what the stream lacks by that cause ("ring" without
**                          one: packets)
**   receiver:undecided()   functions that patterns took too long over
**   receiver:request(all)  the next request of spans, and how many are in it
**   receiver:profile()     where its time went so far (liveprofile.h)
*/
int receiver_new (lua_State *L);

#endif
