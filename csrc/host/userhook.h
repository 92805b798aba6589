/*
** userhook.h - the program's own hooks, while one of ours is above them or may
** come (hooks.h).
**
** While calls are traced or covered, or a signal may set a hook (running.h),
** stand-ins take the place of debug.sethook and debug.gethook in the debug
** library. The first runs Lua's own, so arguments, errors and effects are
** Lua's; then the layers put their hooks back above what the program has set,
** which they call for the events that it asked for. The second tells of the
** program's hook, never of ours.
**
** A program that kept Lua's debug.sethook in a variable before tracing began,
** and calls that on the running coroutine, takes our hook away: what follows
** on that coroutine goes unseen.
*/
#ifndef TG_USERHOOK_H
#define TG_USERHOOK_H

#include "host/hooks.h"

/* Puts the stand-ins in place, if nobody has; takes them away, if nobody needs
   them any more. Quiet, also in the hook. */
void tg_userhook_enter (tg_Host *h, lua_State *L);             /* [-0, +0, -] */
void tg_userhook_leave (tg_Host *h, lua_State *L);             /* [-0, +0, -] */

/* Whether the hook that debug.sethook has installed on 'L1' has a function to
   call. A hook that a coroutine has inherited from its maker has none (hookf of
   ldblib.c). */
bool tg_userhook_calls (lua_State *L1);                        /* [-0, +0, -] */

/* Calls the program's 'hook', if its mask wants the event. It may raise, yield,
   or stop the trace: the last thing done, but for saying that it has
   returned. */
void tg_userhook_call (lua_Hook hook, int mask, lua_State *L, lua_Debug *ar);

#endif
