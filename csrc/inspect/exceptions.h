/*
** exceptions.h - errors that are caught, while their frames are still there.
**
** An error that pcall catches is given to nobody before the stack is gone, and
** one that a coroutine dies of leaves its stack to whoever has resumed it. So
** while a state is open to debuggers a stand-in for pcall calls with a message
** handler of ours, as xpcall would; and the stand-ins for resume and wrap
** (standins.h) tell of those that have died. Message handlers of others, that
** of lua.c among them, are seen by the hook (watch.h).
*/
#ifndef TG_EXCEPTIONS_H
#define TG_EXCEPTIONS_H

#include "inspect/debuggee.h"

/* Puts the stand-in in the place of pcall, where that is Lua's own; takes it
   away. Without memory Lua's own stays. */
void tg_exceptions_open (tg_Inspector *i, lua_State *L);       /* [-0, +0, -] */
void tg_exceptions_close (tg_Inspector *i, lua_State *L);      /* [-0, +0, -] */

#endif
