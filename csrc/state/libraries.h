/*
** libraries.h - Lua's libraries as a fresh state has them, for our own Lua that
** runs in the program's state: whatever the program has done to its own.
**
** Our Lua calls functions of "string" and never methods of strings: the
** metatable of a type is one for the state, and the program's.
*/
#ifndef TG_LIBRARIES_H
#define TG_LIBRARIES_H

#include "binding/lx.h"

/* Pushes a new table of globals. Its tostring, and %s of its string.format,
   take values as they are: Lua's own ask the metatable even of strings. What a
   state has made for itself is left out: open files, math.random, require. */
void tg_libraries_push (lua_State *L);                         /* [-0, +1, m] */

#endif
