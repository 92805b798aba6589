/*
** evaluation.h - code that a debugger has the program run: an expression of the
** console, a condition, a logpoint. However it goes on, it can be ended.
**
** It runs on a coroutine of its own whose hook counts instructions, and looks
** whether the time is over, a debugger says so (Runtime.terminateExecution,
** Debugger.pause), or that debugger or the server has gone. Lua gives a new
** coroutine its maker's hook, so the hook is in all coroutines that the code
** makes; one of the program's that the code resumes gets it too.
**
** From then on each instruction fails: code that catches the error comes no
** further. A C function that does not return cannot be ended; which one it is
** the server's thread is told (channel.h).
**
** On the thread that runs the state.
*/
#ifndef TG_EVALUATION_H
#define TG_EVALUATION_H

#include "inspect/debuggee.h"

/* Runs the function at index 1 with the values from index 4 on, for the client
   of the number at 2; the number at 3 is of seconds that the thread may work,
   nil: as many as it takes. Pushes true and all results; or false, the error
   and a traceback. Returns how many values that is. Raises without memory. */
int tg_evaluation_run (tg_Inspector *i, lua_State *L);         /* [-0, +n, m] */

/* The code that is evaluated resumes 'co', which gets the evaluation's hook; a
   hook other than the debugger's stays. */
void tg_evaluation_enter (const tg_Inspector *i, lua_State *co);

/* From now on the host tells hooks of evaluations from others: a coroutine that
   such code has left behind has one until it runs again. */
void tg_evaluation_setup (tg_Host *h);

#endif
