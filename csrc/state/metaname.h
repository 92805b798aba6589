/*
** metaname.h - what a C function without a name is for: a metamethod of a class
** that a library has in the registry (luaL_newmetatable), "FILE*.__gc".
**
** Lua's own buffers are such a class, "_UBOX*": their memory is given back by
** its __close, which nobody calls by name. People know it as "luaL_Buffer".
*/
#ifndef TG_METANAME_H
#define TG_METANAME_H

#include "binding/lx.h"

/* Of the C function on top of the stack, allocated; NULL if it is none, and
   without memory. In the hook: nothing raises or is created. */
char *tg_metaname_of (lua_State *L);                           /* [-0, +0, -] */

#endif
