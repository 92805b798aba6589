/*
** userhook.h - the program's own hooks, while ours is installed.
**
** A state has one hook. While calls are traced, or a signal may set a hook
** (running.h), stand-ins take the place of debug.sethook and debug.gethook in
** the debug library. The first runs Lua's own, so arguments, errors and effects
** are Lua's; then what the program set is noted in its coroutine's record and
** ours is put back above it. Our hook calls the program's for the events that
** it asked for. The second tells of the program's hook, never of ours.
**
** A program that kept Lua's debug.sethook in a variable before tracing began,
** and calls that on the running coroutine, takes our hook away: what follows
** on that coroutine goes unseen.
*/
#ifndef TG_USERHOOK_H
#define TG_USERHOOK_H

#include "reach/running.h"

/* Puts the stand-ins in place; takes them away, if nobody needs them any more.
   Quiet, also in the hook. */
void tg_userhook_enter (lua_State *L);                         /* [-0, +0, -] */
void tg_userhook_leave (const tg_Session *s, lua_State *L);    /* [-0, +0, -] */

/* Parts of stand-ins for debug.sethook and gethook, which have the arguments of
   those: the coroutine that they speak of; Lua's own sethook, whenever signals
   come; the hook below ours ('s' may be NULL); and what gethook says of it. */
lua_State *tg_userhook_subject (lua_State *L);                 /* [-0, +0, -] */
int tg_userhook_set (lua_State *L);                            /* [-0, +0, e] */
tg_UserHook tg_userhook_of (const tg_Session *s, lua_State *L1);
                                                               /* [-0, +0, -] */
int tg_userhook_tell (lua_State *L, lua_State *L1,
                      tg_UserHook user);                       /* [-0, +n, e] */

/* Whether the hook that debug.sethook has installed on 'L1' has a function to
   call. A hook that a coroutine has inherited from its maker has none (hookf of
   ldblib.c). */
bool tg_userhook_calls (lua_State *L1);                        /* [-0, +0, -] */

/* Calls the program's 'hook', if its mask wants the event. It may raise, yield,
   or stop the trace: the last thing done, but for saying that it has
   returned. */
void tg_userhook_call (lua_Hook hook, int mask, lua_State *L, lua_Debug *ar);

#endif
