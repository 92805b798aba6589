/*
** watch.h - the debugger's hook: it stops the program at breakpoints and after
** steps.
**
**   nothing to stop at   no hook
**   breakpoints          calls; lines and returns only in a function that has
**                        one, and returns below it
**   errors               calls: message handlers are among them
**   a step               calls and returns; lines where the step may end
**   coverage             calls and lines, which are counted (coverage/)
**
** Lua's hook is one for each coroutine, with one mask: so the mask is changed
** at calls and returns, for the function that runs then. To Lua and to the
** tracer this hook is one of the program's (userhook.h, arm.h): a trace that
** runs at the same time calls it after each event, and it knows of no traces.
**
** A coroutine is suspended with the mask that it has, and with the epoch of the
** breakpoints for which that was worked out. Two moments mend one that is too
** small, by asking for lines until the next event shows which function runs: a
** breakpoint is set (all coroutines, found in memory), and a coroutine with
** another epoch is resumed (those that Lua's own functions resume).
**
** A coroutine on which the program has a hook of its own is left to it: there
** nothing stops.
*/
#ifndef TG_WATCH_H
#define TG_WATCH_H

#include "inspect/debuggee.h"

/* There is a new inspector: its hook is told from the program's. */
void tg_watch_begin (const tg_Inspector *i);

/* Breakpoints or the step have changed, at a safe point of 'L', which runs: the
   coroutines that run get the hook, or lose it. */
void tg_watch_review (tg_Inspector *i, lua_State *L);          /* [-0, +0, -] */

/* Code of a debugger is about to run: coroutines that it resumes are seen,
   until the next review. */
void tg_watch_evaluation (const tg_Inspector *i);              /* [-0, +0, -] */

/* Whether the coroutine is left to a hook of the program's. */
bool tg_watch_is_left (const tg_Inspector *i, lua_State *L);

/* Whether debuggers are to hear of errors now. */
TG_INLINE bool tg_watch_hears (const tg_Inspector *i) {
  return i->wants.errors != TG_ERRORS_NONE && !tg_debuggee_works(i);
}

/* The error on top of the stack of 'co', whose frames from 'level' on are still
   there: the program stops if a debugger wants to hear of it. 'L' runs. */
void tg_watch_error (tg_Inspector *i, lua_State *L, lua_State *co, int level,
                     bool uncaught);                           /* [-0, +0, -] */

/* There is no such inspector any more: coroutines that still have the hook lose
   it with their next event. */
void tg_watch_end (tg_Inspector *i, lua_State *L);             /* [-0, +0, -] */

#endif
