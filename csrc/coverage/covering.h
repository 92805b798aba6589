/*
** covering.h - coverage of a whole program: one Lua state, from its first line
** until the process exits (tracegrip coverage).
**
** What was counted is written then, in a Lua state of its own: the program's
** may be gone, or be in any condition. A process that is killed, or that
** becomes another program, writes nothing; nor does a forked child.
*/
#ifndef TG_COVERING_H
#define TG_COVERING_H

#include "binding/lx.h"

/* Lua: cover(plan): counts from now on in the state and in all coroutines that
   are made from here on. The plan:
     path, cpath    package.path and package.cpath of the state that writes
     text           what the module tracegrip.coverage is told */
int coverage_start (lua_State *L);

#endif
