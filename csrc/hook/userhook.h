/*
** userhook.h - the program's own hooks, while ours is installed.
**
** A state has one hook. While tracing, stand-ins take the place of
** debug.sethook and debug.gethook in the debug library: they run Lua's own
** functions, so arguments, errors and effects are Lua's; then what the program
** set is noted in its coroutine's record and ours is put back above it. Our
** hook calls the program's for the events that it asked for.
**
** A program that kept Lua's debug.sethook in a variable before tracing began,
** and calls that on the running coroutine, takes our hook away: what follows
** on that coroutine goes unseen.
*/
#ifndef TG_USERHOOK_H
#define TG_USERHOOK_H

#include "binding/lx.h"

/* Puts the stand-ins in place, takes them away. Quiet, also in the hook. */
void tg_userhook_enter (lua_State *L);                         /* [-0, +0, -] */
void tg_userhook_leave (lua_State *L);                         /* [-0, +0, -] */

#endif
