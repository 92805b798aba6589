/*
** inspector.h - a Lua state that a debugger can attach to: Chrome DevTools, or
** any other that speaks its protocol.
**
**     server's thread                        traced thread
**       door.lua (HTTP, WebSocket)             watch (the hook), pause()
**          │ messages                             │ "stop"
**          └──── channel ── signal ── attend ──> agent.lua ──> the program's
**                                                values, by Lua's debug library
**
** The server's thread only carries texts. What they say is read where the
** program runs: at a safe point (server/interrupt.h), or while it stands still
** in the hook, which then waits for the next message. So nothing of the program
** is ever touched by another thread, and values need no locks.
**
** A debugger that goes away, or a server that does, lets the program go on: it
** is the agent that waits, and it is told (inspector.receive gives nothing).
*/
#ifndef TG_INSPECTOR_H
#define TG_INSPECTOR_H

#include "channel/channel.h"
#include "state/session.h"

/* Opens the state to debuggers whose messages come by 'channel', unless it is
   open already; 'path' is where the agent's modules are. Raises. */
void tg_inspector_open (lua_State *L, tg_Session *s, tg_Channel *channel,
                        const char *path);                     /* [-0, +0, m] */

/* Closes the state to debuggers; nothing if it is closed already. */
void tg_inspector_close (tg_Host *h, lua_State *L);            /* [-0, +0, -] */

/* Reads the messages that have come; at a safe point of 'L', which runs.
   Nothing if the state is not open to debuggers. */
void tg_inspector_attend (tg_Host *h, lua_State *L);           /* [-0, +0, -] */

/* The same in a signal handler, while the program waits in a system call of a C
   function that 'L', or a coroutine that it has resumed, has called. Requests
   that would run code are left for later; nothing is collected, since
   finalizers are code too. */
void tg_inspector_visit (tg_Host *h, lua_State *L);            /* [-0, +0, -] */

/* Waits 'ns' at most for messages, and reads what there are. Whether the
   program begins: a debugger has said so, and it stops at its first line, or
   there is no server any more. */
bool tg_inspector_wait (tg_Host *h, lua_State *L, uint64_t ns);
                                                               /* [-0, +0, -] */

/* Lua: pause(): the program stops here, if a debugger is attached. */
int inspector_pause (lua_State *L);

/*
** Pushes the table of functions that the agent has beside Lua's own:
**   receive(wait)      -> client, text | client, boolean (it reads too slowly,
**                      or does no more) | client (it is gone) | nothing
**   postpone(client, text)
**                      a message is not read yet: it is the oldest again
**   send(client, text, optional)
**                      -> whether it will be; what is not optional always is
**   now()              milliseconds since 1970
**   said()             -> the next message of the console (inspect/console.h);
**                      nil
**   listened(there)    whether a debugger wants to hear of them
**   chain(co)          -> list of coroutines that run: co, its resumer, ...
**   coroutines(most)   -> list of coroutines that are not over, without the
**                      main one, the newest first; how many there are; nothing
**                      where memory is not read
**   own(f)             -> whether a function is tracegrip's
**   breakpoints(source, lines, functions)
**                      all of a source: ascending lists of lines and of the
**                      first lines of functions that have one; its number
**   variable(co, level, name)
**                      -> the last local variable of that name in a frame, by
**                      its number; nil
**   attached(there)    whether a debugger wants to hear of pauses
**   curious(wanted)    whether new sources are to be told
**   uncaught()         errors that end the program are told from now on, while
**                      somebody listens; false: it has not begun yet
**   cover(wanted)      whether calls and lines are counted; from 0 if they were
**                      not
**   counts()           -> what was counted (coverage/coverage.h), which begins
**                      from 0 again
**   errors(which)      of which ones debuggers are to hear: "none", "uncaught",
**                      "all"
**   step(co, mode, level)
**                      "next", "into", "over", "out", "none"; from the frame of
**                      that level, 0 without
**   run(f, client, seconds, ...)
**                      -> what code of a debugger gives (inspect/evaluation.h)
**   watch_field(table, key), watch_upvalue(function, number)
**   watch_local(co, level, number)
**                      -> a cell (inspect/cells.h), by its number: what is in
**                      it is watched
**   unwatch(cell)
**   changes()          -> list of cells that have changed, or are over: {cell
**                      =, over =, old =, freed =, new =}; freed: what was there
**                      is no more
**   tests(source, by_line)
**                      what the hook asks by itself at lines of the source of
**                      that number (inspect/tests.h)
*/
void tg_inspector_push (lua_State *L);                         /* [-0, +1, m] */

#endif
