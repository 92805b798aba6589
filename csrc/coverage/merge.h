/*
** merge.h - counts of many processes as one list, for the command that started
** them.
*/
#ifndef TG_MERGE_H
#define TG_MERGE_H

#include "binding/lx.h"

/* Lua: merge(paths) -> a list of functions (pushcounts.h), and one of problems:
   {process = n or nil, path =, what =}. The files at these paths are those that
   ledger.h describes; one that is gone is a problem too. */
int merge_counts (lua_State *L);

#endif
