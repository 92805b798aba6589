/*
** mask.h - for which events the debugger's hook is there, on each coroutine.
**
** Lua's hook is one for each coroutine, with one mask. Another may stand above
** ours, a tracer's or a signal handler's, which keeps ours then (hooks.h). What
** the program has set stays, and the coroutine is left to it. Which mask a
** coroutine needs is watch.c's to say.
**
** On the thread that runs the state. Nothing here allocates or fails.
*/
#ifndef TG_MASK_H
#define TG_MASK_H

#include "inspect/debuggee.h"

/* The mask of a coroutine; 0: it has no hook, or one that is not ours. */
int tg_mask_of (const tg_Inspector *i, lua_State *L);

/* The mask of a coroutine from now on; 0: the hook goes. */
void tg_mask_set (const tg_Inspector *i, lua_State *L, int mask);

/* The same of 'co', which runs, and of coroutines that it has resumed by
   functions which do not keep the list (running.h), up to 'next', which is on
   the list, or 'L', which runs. */
void tg_mask_set_from (const tg_Inspector *i, lua_State *co, lua_State *next,
                       lua_State *L, int mask);

/* The same of all coroutines of the state, whoever will resume them: where
   memory is read. Not while calls are traced, since hooks are in the tracer's
   records then. Those that Lua's own functions resume are seen in any case. */
void tg_mask_set_all (const tg_Inspector *i, const lua_State *L, int mask);

/* Whether the coroutine is left to a hook that the program has set. */
bool tg_mask_is_taken (const tg_Inspector *i, lua_State *L);

/* Whether its mask was worked out for other breakpoints, or it has none. */
bool tg_mask_is_stale (const tg_Inspector *i, lua_State *co);

#endif
