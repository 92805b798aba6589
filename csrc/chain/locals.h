/*
** locals.h - the locals of Lua frames in the stream: of the frame that makes a
** call, as they are at the line of the call, and of one that returns, at the
** line of its return. Only for traces with the type LOCALS.
**
** They are told by an event of their own, right before the CALL or the RETURN
** (event.h). Each local goes with its name, in the order in which they were
** declared. Temporaries, the state of loops and extra arguments, whose names
** begin with a parenthesis, are left out. A frame that is not in the trace, and
** one that makes a tail call and is gone when the call is told, have none.
**
** Called in the hook, on the traced thread, where an event is looked at in
** full. Values are limited and hidden as arguments are, by the local's name;
** what there is no room for on the stack is counted as unseen.
*/
#ifndef TG_LOCALS_H
#define TG_LOCALS_H

#include "capture/call.h"
#include "state/session.h"

/* Whether anybody wants them. */
TG_INLINE bool tg_locals_wanted (const tg_Session *s) {
  return (s->selection.types & TG_TYPE_LOCALS) != 0;
}

/* Those of the caller; the frame of the callee is on top. */
void tg_locals_call (const tg_Call *c);                       /* [-0, +0, -] */

/* Those of the frame 'what' of event 'ar', which returns, and is still on
   top. */
void tg_locals_return (const tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                       uint32_t what, uint64_t now);          /* [-0, +0, -] */

#endif
