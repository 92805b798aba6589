/*
** layout.h - the layout of the family of Lua that this is built for.
*/
#ifndef TG_LAYOUT_H
#define TG_LAYOUT_H

#include <lua.h>

#if LUA_VERSION_NUM == 504
#include "direct/layout54.h"
#elif LUA_VERSION_NUM == 505
#include "direct/layout55.h"
#else
#error "no layout is known of this Lua"
#endif

#endif
