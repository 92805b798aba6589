/*
** replay.h - packets from elsewhere as a stream of this process: what packet.h
** is the other way round.
**
** A client that gets a program's frame packets over a socket makes events of
** them again, and then has what a local trace has: the live log, and a
** recording on a file. Packets know less than events do: a coroutine is
** resumed or ends when a packet of another one shows it, and without the type
** "thread" all is one coroutine.
**
** The packets may come from anywhere. Those that make no sense do no harm.
*/
#ifndef TG_REPLAY_H
#define TG_REPLAY_H

#include "binding/lx.h"

/* Creates the metatable; raises. */
void tg_replay_setup (lua_State *L);                           /* [-0, +0, m] */

/*
** Lua: replay(options, style, file) -> Replay | nil, message, code. The options
** are 'trace' and 'minDuration' as of a trace; 'style' that of its log, or nil;
** 'file' what it is to be recorded on, or nil: {path, name, program}.
**   replay:put(packet)   takes an enteredFrame or exitedFrame
**   replay:pump()        writes what is new; true | nil, message, code
**   replay:finish(why)   the end, why as in stoppedTrace; the same
*/
int replay_new (lua_State *L);

#endif
