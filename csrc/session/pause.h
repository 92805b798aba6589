/*
** pause.h - takes the hook from the running coroutine while nobody wants its
** events, and puts it back. An event that nobody wants costs as much as any
** (hook.c): where all events are known to be such, a pause is cheaper than a
** filter.
*/
#ifndef TG_PAUSE_H
#define TG_PAUSE_H

#include "state/session.h"

/* The running coroutine has no hook from here on, if 't' is the only trace of
   its session; true: it had one, and tg_pause_end puts it back. Frames that are
   open and visible stay so. */
bool tg_pause_begin (lua_State *L, const tg_Trace *t);         /* [-0, +0, -] */

/* The coroutine's events are seen again, but not those of frames that were
   opened in between. */
void tg_pause_end (lua_State *L, const tg_Trace *t);           /* [-0, +0, -] */

#endif
