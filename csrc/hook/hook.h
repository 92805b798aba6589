/*
** hook.h - what happens at each call and return of the traced program.
**
** Hooks are installed by arm.h alone, but for the moment in which interrupt.h
** calls upon a state that does not trace. Inside the hook: nothing is raised,
** nothing yields, no metamethod and no function of the program runs; the stack
** need not be cleaned, since luaD_hook restores its top.
**
** The shadow stacks are brought in step with the truth at every event, in O(1)
** when nothing was unwound: at a return the frame's identity must be the top
** one's; at a call the caller's must be. If it is not, frames went away
** without an event, mostly because an error unwound them, or came without one
** (resumechain.h). Likewise an event on a coroutine that is not the running one
** tells that the running one yielded, ended, died or resumed it.
*/
#ifndef TG_HOOK_H
#define TG_HOOK_H

#include "state/session.h"

/* Before the session's first coroutine is armed (arm.h): gives the session its
   hook. tg_hook_end takes it from all coroutines. */
void tg_hook_begin (tg_Session *s);
void tg_hook_end (tg_Session *s, lua_State *L);

/* All open frames exit "terminated". */
void tg_hook_terminate (tg_Session *s);

#endif
