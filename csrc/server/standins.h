/*
** standins.h - while a state listens, coroutine.resume and coroutine.wrap are
** stand-ins that do what Lua's own do, and tell which coroutines run
** (interrupt.h).
*/
#ifndef TG_STANDINS_H
#define TG_STANDINS_H

#include "state/session.h"

/* They take the place of Lua's own, where those are; and give it back. Without
   memory Lua's own stay, and less is reached by a signal. */
void tg_standins_enter (lua_State *L);                         /* [-0, +0, -] */
void tg_standins_leave (lua_State *L);                         /* [-0, +0, -] */

#endif
