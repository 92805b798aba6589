/*
** fullevent.h - one event looked at in full: the shadow stack is brought in
** step with the truth (hook.h), a frame pushed or popped, and what is wanted of
** it told. Then comes what was waiting for an event, and the program's own
** hook, which may end the trace: 't' may be gone after any of these.
**
** 't' is the record of the coroutine that runs.
*/
#ifndef TG_FULLEVENT_H
#define TG_FULLEVENT_H

#include "state/session.h"

/* Any event: where memory is read, and where the public API is asked. */
void tg_fullevent_direct (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                          uint64_t now);
void tg_fullevent_asking (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                          uint64_t now);

/*
** The same of events of which the quick way has found out all but what is
** special about them: the call of 'k' by the frame on top, for whose frame
** there is room; the return of the frame on top.
*/
void tg_fullevent_enter (tg_Coroutine *t, lua_Debug *ar, const tg_Closure *k,
                         uint64_t now);
void tg_fullevent_leave (tg_Coroutine *t, lua_Debug *ar, uint64_t now);

#endif
