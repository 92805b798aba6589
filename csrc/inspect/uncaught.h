/*
** uncaught.h - errors that end the program, told to debuggers while its frames
** are still there, without a hook.
**
** The interpreter runs the main chunk with a message handler (msghandler in
** lua.c), which stands on the stack of the C function that has called it. As
** long as a debugger listens, one of ours that does the same stands there.
** Where it stands elsewhere or does anything else, as in other hosts, it is
** left alone.
*/
#ifndef TG_UNCAUGHT_H
#define TG_UNCAUGHT_H

#include "inspect/debuggee.h"

/* Sees to it, once the main chunk is running; whether there is nothing more to
   do. On the agent's 'L', while the program is at a safe point or stands
   still. */
bool tg_uncaught_review (const tg_Inspector *i,
                         lua_State *L);                        /* [-0, +0, m] */

#endif
