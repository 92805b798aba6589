/*
** listener.h - a state listens for clients: tracegrip.listen.
*/
#ifndef TG_LISTENER_H
#define TG_LISTENER_H

#include "binding/lx.h"

/* Creates the metatable; raises. */
void tg_listener_setup (lua_State *L);                         /* [-0, +0, m] */

/*
** Lua: listen(options) -> Listening | nil, message, code. The options:
**   host, port, path, token, defaults
**                             strings and a number, for the server
**   packagePath, packageCPath where it finds its modules; as here
**   title                     what clients call the state
**   options                   of traces: how far a client may go
**   stallTimeout              seconds that the program waits for a client (5)
**   signal                    its number (that of SIGURG)
**   inspect                   true: for debuggers (docs/inspect.md)
** Listening.address; listening:close(). waited(listening, seconds): whether a
** client has asked for a trace by then, which runs if so. A state may listen at
** several addresses; options, stallTimeout and signal are those of the first.
*/
int listener_start (lua_State *L);
int listener_waited (lua_State *L);

/* Lua: debuggerWaited(listening, seconds): whether a debugger has said by then
   that the program may begin, which then stops before its first line; or there
   will be none. */
int listener_debugger_waited (lua_State *L);

#endif
