/*
** quickswitch.h - coroutines that are resumed and yield as they should: the
** quick way of those events, when memory is read.
**
** A generator's turn is four events: the call of what resumes it, the return of
** its coroutine.yield, the call of that again, the return of what resumed it.
** Where each is as the one before let expect, nothing has to be found out
** (resumechain.h). As with all quick ways, what is to be asked is asked first,
** and if one answer is no, nothing has been done.
*/
#ifndef TG_QUICKSWITCH_H
#define TG_QUICKSWITCH_H

#include "chain/builtincalls.h"
#include "state/session.h"

/* Whether a function or a frame has a role, and nothing else is special. */
TG_INLINE bool tg_quickswitch_only (uint32_t what) {
  return (what & TG_FR_SPECIAL) == (what & TG_FR_ROLE);
}

/* Whether the call of 'k' resumes a coroutine that has our hook, or yields, and
   its arguments are told as any function's. */
bool tg_quickswitch_calls (const tg_Coroutine *t, const lua_Debug *ar,
                           const tg_Closure *k);

/*
** A return on 'L', which is not the coroutine that ran last: of coroutine.yield
** after it was resumed, or of what resumed the one that has yielded. Tells of
** the switch. The coroutine of 'L', which runs now, with the frame that returns
** on top; or NULL.
*/
tg_Coroutine *tg_quickswitch_arrive (lua_State *L, const lua_Debug *ar,
                                     uint64_t now);

#endif
