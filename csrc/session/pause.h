/*
** pause.h - the hook is taken from what runs while nothing is to be seen of it,
** and put back. An event costs as much when it is of no use (hook.c): where it
** is known beforehand that there are only such, this is cheaper than a filter.
*/
#ifndef TG_PAUSE_H
#define TG_PAUSE_H

#include "state/session.h"

/* The running coroutine has no hook from here on, if 't' is the only trace of
   its session; true: it had one, and tg_pause_end puts it back. Frames that are
   open and visible stay so. */
bool tg_pause_begin (lua_State *L, const tg_Trace *t);         /* [-0, +0, -] */

/* Its events are seen again; those of frames opened in between are not. */
void tg_pause_end (lua_State *L, const tg_Trace *t);           /* [-0, +0, -] */

#endif
