/*
** traceback.h - where an error of a debugger's code has come from, as Lua's own
** traceback says it, without frames of ours: variables of the code are looked
** up by functions of the debugger.
*/
#ifndef TG_TRACEBACK_H
#define TG_TRACEBACK_H

#include "binding/lx.h"

/* Pushes the text, which begins with 'message', of the frames of 'co'. */
void tg_traceback_push (lua_State *L, lua_State *co, const char *message);
                                                               /* [-0, +1, m] */

#endif
