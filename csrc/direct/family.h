/*
** family.h - where things stand in memory in the version of Lua that this is
** built for: the rows of layout/rows.h on which all its releases agree, as
** constants (TG_AT_STATE_TOP and so on). The others are in tg_direct_facts
** (memory.h), by the release that runs.
*/
#ifndef TG_FAMILY_H
#define TG_FAMILY_H

#include <lua.h>

#include "direct/memory.h"
#include "layout/columns.h"

enum {
#define DIFF(...)
#if LUA_VERSION_NUM == 504
#define SAME(name, ...) TG_##name = TG_V544(__VA_ARGS__),
#elif LUA_VERSION_NUM == 505
#define SAME(name, ...) TG_##name = TG_V551(__VA_ARGS__, 0),
#else
#error "no layout is known of this Lua"
#endif
#include "layout/rows.h"
#undef SAME
#undef DIFF
};

#if LUA_VERSION_NUM == 504
#include "direct/family54.h"
#else
#include "direct/family55.h"
#endif

#endif
