/*
** arm.h - putting the tracer's hook on coroutines, and taking it away again.
**
** The hook itself is that of the host's layer (host/hooks.h): code that arms
** need not know what the hook does. A hook that was there before is kept in the
** coroutine's record, and given back.
*/
#ifndef TG_ARM_H
#define TG_ARM_H

#include "state/session.h"

/* Whether 'L' has the tracer's hook. */
TG_INLINE bool tg_arm_has (const tg_Session *s, lua_State *L) {
  return tg_hooks_has(&s->host, L, TG_HOOK_TRACER);
}

/* The events that it asks for, whatever the program's asks for. */
#define TG_ARM_EVENTS (LUA_MASKCALL | LUA_MASKRET)

/* Whether it has the hook, and that is called: not so in a window (window.h),
   or of one that was made in a window. */
TG_INLINE bool tg_arm_hears (const tg_Session *s, lua_State *L) {
  return tg_arm_has(s, L)
         && (!s->window.used
             || (lua_gethookmask(L) & TG_ARM_EVENTS) == TG_ARM_EVENTS);
}

/* What is below the tracer's hook on 'L' (hooks.h). */
tg_UserHook tg_arm_below (const tg_Host *h, lua_State *L);

/* Puts the hook on 'L1' (frames it already has stay unseen, unless it is
   suspended) and gives its record; NULL without memory. 'L' runs now. */
tg_Coroutine *tg_arm_coroutine (tg_Session *s, lua_State *L1, lua_State *L);

/* Puts the hook on all coroutines that run now, 'L' and the chain of those that
   resumed it. False without memory. */
bool tg_arm_chain (tg_Session *s, lua_State *L);

/* Lua allows 200 levels of C calls (LUAI_MAXCCALLS), and each resume is one. */
#define TG_CHAIN_MAX 250

/* The coroutine that the function of a frame resumes or closes, and which of
   Lua's own functions that is; NULL: it does neither. */
lua_State *tg_arm_subject (lua_State *M, lua_Debug *ar, tg_Role *role);
                                                               /* [-0, +0, -] */

/* The coroutine that 'M' has resumed, or closes, while 'L' runs; NULL: none is
   seen, as when C code resumes. */
lua_State *tg_arm_resumed_by (lua_State *M, lua_State *L);     /* [-0, +0, -] */

/* Takes the hook from one coroutine, giving back the program's own. */
void tg_arm_lift (const tg_Coroutine *t);

/* Takes the hook from every coroutine in the same way. */
void tg_arm_release (tg_Session *s, lua_State *L);

#endif
