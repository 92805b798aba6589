/*
** programheap.h - the heap of a program that listens, for the server's Lua: how
** large it is, and snapshots of it, with nothing running in the program.
**
** On the server's thread, beside the program, which runs or sleeps meanwhile.
** What is read of its memory is read as another process's is (outside/): the
** state may close at any moment. A snapshot is picture.h's.
**
** Lua, with a channel (clientchannel.h):
**   heapgauge(channel)       a function: what the state says it has in use at
**                            that moment; both: nil, message, code
**   picture(channel, path, strict)
**                            a child that writes a snapshot to that file, or
**                            into its pipe without one; nil, message, code:
**                            "gone", "hidden", "unknown", "failed"
** A picture:
**   picture:release()        the descriptor of its pipe: the caller's from now
**   picture:said(bytes)      of what has come by the pipe: the result, as
**                            tg_picture_push has it, and how many bytes it
**                            took; nothing: more are needed; nil, message,
**                            code: "again", it was in the middle of something
**   picture:await()          the pipe has ended: whether all was done
**   picture:drop()           it is not wanted any more
*/
#ifndef TG_PROGRAMHEAP_H
#define TG_PROGRAMHEAP_H

#include "binding/lx.h"

void tg_programheap_setup (lua_State *L);                     /* [-0, +0, m] */

int programheap_gauge (lua_State *L);
int programheap_picture (lua_State *L);

#endif
