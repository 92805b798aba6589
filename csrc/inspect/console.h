/*
** console.h - what the program says by the console (trace/consolemarks.h), for
** debuggers: kept here until the agent takes it, which sends it
** (lua/tracegrip/inspect/console.lua).
**
** From when the state is opened to debuggers until it is closed; on the thread
** that runs it.
*/
#ifndef TG_CONSOLE_H
#define TG_CONSOLE_H

#include "inspect/debuggee.h"

/* Makes room for messages, which raises; lets go of them. */
void tg_console_setup (lua_State *L);                          /* [-0, +0, m] */
void tg_console_clear (lua_State *L);                          /* [-0, +0, -] */

/* Keeps what a method was called with: all that is on the stack. */
void tg_console_keep (tg_Inspector *i, lua_State *L, const char *method);
                                                               /* [-0, +0, m] */

/* Takes the oldest message off and pushes it, or nil:
     {value, ..., n =, method =, time =, bytes =}
   bytes are those of the strings in it. Of what was said while nobody listened
   it has the place too, by the names of debug.getinfo: name what source
   currentline linedefined. */
void tg_console_take (tg_Inspector *i, lua_State *L);          /* [-0, +1, -] */

/* Milliseconds since 1970. */
double tg_console_now (void);

#endif
