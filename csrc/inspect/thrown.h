/*
** thrown.h - errors on their way: whether a call is that of a message handler,
** which is made where the error is; and whether anybody will catch it.
**
** On the thread that runs the state, in the hook or in a message handler.
*/
#ifndef TG_THROWN_H
#define TG_THROWN_H

#include "inspect/debuggee.h"

/* Whether the frame, whose call is this event, is of a message handler that was
   given an error (luaG_errormsg), and not one of its own. Memory is read:
   nothing else tells such a call from others. */
bool tg_thrown_handles (const lua_State *L, const void *frame);

/* Whether a frame of 'L' from that level on catches errors, or whoever has
   resumed it. A host that resumes coroutines does; one that calls the program
   in protected mode, as lua.c does, does not. */
bool tg_thrown_is_caught (const tg_Inspector *i, lua_State *L, int level);
                                                               /* [-0, +0, -] */

#endif
