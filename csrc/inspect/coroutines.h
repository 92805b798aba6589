/*
** coroutines.h - all coroutines of a state that have something to show, whoever
** has them: for debuggers, which show each as a thread.
**
** On the thread that runs the state, which is the agent's. Where memory is not
** read there is no list.
*/
#ifndef TG_COROUTINES_H
#define TG_COROUTINES_H

#include "inspect/debuggee.h"

/* Pushes a list of coroutines, the newest first, at most so many, and how many
   there are; tracegrip's own and those that are over are left out, and so is
   the main one. Returns the number of results: 0 where memory is not read.
   Raises if there is no memory for the list, and for nothing else. */
int tg_coroutines_push (tg_Inspector *i, lua_State *L, int most);
                                                             /* [-0, +0|2, m] */

#endif
