/*
** covering.h - coverage of a whole program: one Lua state, from where it is
** begun until the process ends, in whatever way.
**
** Counts go to a file of the process (ledger.h), which somebody else reads: the
** command that started it, for all of its processes (merge.h). So there is
** nothing to do at the end, no signal is handled, and exit status and signal
** are the program's own. A process that forks leaves its own counts alone; the
** child counts from 0, in another file. Where a process has no command above
** it (busted's helper), it is its own reader, at exit.
*/
#ifndef TG_COVERING_H
#define TG_COVERING_H

#include "binding/lx.h"

/* Lua: cover(plan) -> true | nil, message, code: counts from now on in the
   state and in all coroutines that are made from here on. The plan:
     directory      where the file is to be; once that is gone nobody wants to
                    know any more, and nothing is counted
     path, cpath    package.path and package.cpath of a state that, at exit,
                    calls 'exiting' of tracegrip.coverage.suite, unless it is
                    uncovered before
     text           ...with this; nil: nothing is called */
int coverage_start (lua_State *L);

/* Lua: uncover() -> boolean: nothing is counted any more, and nothing called at
   exit. Whether this process had been counted, and none that it was forked
   from. */
int coverage_stop (lua_State *L);

#endif
