/*
** luasink.h - a sink that builds Lua tables.
**
** The finished document is left on top of the stack, one slot. Raises what Lua
** raises when memory or stack runs out, so it is for protected calls only.
*/
#ifndef TG_LUASINK_H
#define TG_LUASINK_H

#include <lua.h>

#include "text/sink.h"

typedef struct tg_LuaSink {
  tg_Sink sink;         /* first member: a tg_LuaSink is a tg_Sink */
  lua_State *L;         /* borrows */
  int base;             /* stack index below the document */
} tg_LuaSink;

void tg_luasink_init (tg_LuaSink *s, lua_State *L);

#endif
