/*
** varargs.h - the extra arguments of a vararg function, asked of the public
** API at the event of its call.
**
** lua_getlocal has them under negative numbers. But from Lua 5.5 on a function
** that names them, f (a, ...t), and uses 't' as a table, has them in one from
** the start, and lua_getlocal has none. That table is the variable after the
** fixed parameters, which in all other vararg functions is nil until they run.
** Nobody but us has seen it yet.
*/
#ifndef TG_VARARGS_H
#define TG_VARARGS_H

#include <lua.h>

#include "base/base.h"

/* How many there are. 'ar' is the call's, 'nparams' its fixed parameters. */
int tg_varargs_count (lua_State *L, lua_Debug *ar, int nparams);
                                                             /* [-0, +0, -] */

/* Pushes number 'i', from 1; false if there are less, and then nothing is
   pushed. */
bool tg_varargs_push (lua_State *L, lua_Debug *ar, int nparams, int i);
                                                         /* [-0, +(0|1), -] */

#endif
