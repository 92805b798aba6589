/*
** interrupt.h - how the server's thread reaches the one that runs a Lua state:
** at a safe point, whatever the program is doing.
**
** A state that traces looks for itself, at its next event. One that does not
** has no hook, and nothing looks. So the server sends a signal (channel.h),
** whose handler runs on the state's own thread and calls upon it (running.h).
** At the next call or return the commands are carried out; what tracing begins
** with is this very event. A program that sleeps in C is not woken for more
** than the moment of the signal.
**
** A coroutine that no handler reaches is reached by a sentinel, an object whose
** finalizer runs on whatever runs when the collector is through.
**
** In a forked child that goes on after its parent the same signal, or the
** sentinel, tells that the parent has ended (lifeline.h): its channel is
** 'wanted' then, and 'turn' finds that nobody is at the other end.
**
** While tracing begins, which reads the hooks that the program has, the signal
** is kept away (observer.h: block and unblock).
*/
#ifndef TG_INTERRUPT_H
#define TG_INTERRUPT_H

#include "channel/channel.h"
#include "state/session.h"

/* Makes the session's, once, which stays until the state closes; 'turn' carries
   out the channel's commands. May raise. */
void tg_interrupt_setup (lua_State *L, tg_Session *s,
                         void (*turn) (tg_Session *s, lua_State *L));
                                                               /* [-0, +0, m] */

/*
** Opens the state to signals of this channel (borrowed), on this thread; closes
** it, even if it is closed. False if there is no room or no such signal
** (errno).
*/
bool tg_interrupt_open (lua_State *L, tg_Session *s, tg_Channel *channel);
                                                               /* [-0, +0, m] */
void tg_interrupt_close (tg_Host *h, lua_State *L);         /* [-0, +0, -] */

/* In a forked child: it is called when the process that listened has ended. */
void tg_interrupt_forked (const tg_Host *h);

#endif
