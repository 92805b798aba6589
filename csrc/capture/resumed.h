/*
** resumed.h - which coroutine a call of one of Lua's functions resumes or
** closes.
*/
#ifndef TG_RESUMED_H
#define TG_RESUMED_H

#include "state/session.h"

/* That of the wrap function at stack index 'i'. */
lua_State *tg_resumed_wrapped (lua_State *L, int i);          /* [-0, +0, -] */

/* That of the call 'ar' of a function with that role. By the public API the
   function's value is on top of the stack. */
lua_State *tg_resumed_by (const tg_Coroutine *t, lua_State *L,
                          const lua_Debug *ar, tg_Role role);

#endif
