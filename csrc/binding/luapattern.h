/*
** luapattern.h - Lua's patterns as Lua's side has them.
*/
#ifndef TG_LUAPATTERN_H
#define TG_LUAPATTERN_H

#include "binding/lx.h"

/* Raises what is wrong with the pattern on top of the stack, which is of the
   option 'name'. */
void tg_luapattern_check (lua_State *L, const char *name);     /* [-0, +0, v] */

/* Lua: found(text, patterns) -> boolean: whether any of a list is found in the
   text; nil if that takes too long. */
int luapattern_found (lua_State *L);

#endif
