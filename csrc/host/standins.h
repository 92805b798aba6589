/*
** standins.h - while somebody may call upon a state (running.h),
** coroutine.resume, wrap and close are stand-ins that do what Lua's own do, and
** tell which coroutines run.
*/
#ifndef TG_STANDINS_H
#define TG_STANDINS_H

#include "host/running.h"

/* 'who' may call from now on, or no more. With the first the stand-ins take the
   place of Lua's own functions, where those are; with the last they give it
   back. Without memory Lua's own stay, and less is reached. The list is there
   (tg_running_setup). */
void tg_standins_open (tg_Host *h, lua_State *L, tg_Caller who,
                       tg_Serve *serve);                       /* [-0, +0, -] */
void tg_standins_close (tg_Host *h, lua_State *L, tg_Caller who);
                                                               /* [-0, +0, -] */

#endif
