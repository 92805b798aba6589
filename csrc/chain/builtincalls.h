/*
** builtincalls.h - what the hook does besides, at functions with a role.
**
** coroutine.resume, wrap and close may bring in a coroutine that has no hook
** yet; create and wrap make one that inherits it; xpcall has a handler; error
** and assert have a value on its way; yield suspends its coroutine, which may
** come back without a word; os.exit ends everything.
*/
#ifndef TG_BUILTINCALLS_H
#define TG_BUILTINCALLS_H

#include "state/session.h"

/* Roles of which calls or returns are noted. */
enum {
  TG_NOTED_CALLS = 1u << TG_ROLE_RESUME | 1u << TG_ROLE_CLOSE
                   | 1u << TG_ROLE_WRAPPED | 1u << TG_ROLE_XPCALL
                   | 1u << TG_ROLE_ERROR | 1u << TG_ROLE_ASSERT
                   | 1u << TG_ROLE_YIELD | 1u << TG_ROLE_EXIT
                   | 1u << TG_ROLE_HANDLER,
  TG_NOTED_RETURNS = 1u << TG_ROLE_CREATE | 1u << TG_ROLE_WRAP
                     | 1u << TG_ROLE_XPCALL
};

/* 'L' has got hold of 'co', to resume it, to close it or to set a hook on it.
   If 'co' does not have the tracer's hook, it gets the hook, and a record of
   its frames. */
void tg_builtincalls_meet (tg_Session *s, lua_State *co, lua_State *L);

/* The tracer's way to cover a hook of the program's (hooks.h). */
void tg_builtincalls_cover (tg_Host *h, lua_State *L1, lua_State *L, bool had);

TG_INLINE bool tg_builtincalls_noted (uint32_t roles, uint32_t what) {
  return (roles >> tg_role_bits(what) & 1) != 0;
}

/* Whether another coroutine's event comes next: then nothing need be prepared
   for one of this coroutine's. */
TG_INLINE bool tg_builtincalls_switches (uint32_t what) {
  return tg_builtincalls_noted(1u << TG_ROLE_RESUME | 1u << TG_ROLE_WRAPPED
                               | 1u << TG_ROLE_YIELD, what);
}

/* Whether the function's value must be on top of the stack for it. */
TG_INLINE bool tg_builtincalls_needs_value (uint32_t what) {
  return tg_role_bits(what) == TG_ROLE_HANDLER;
}

/* At a call, the function's frame being on top of 't'; 'above': values on the
   stack above its arguments. By the public API one, the function. */
void tg_builtincalls_call (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                           uint32_t what, int above);

/* At a return; the frame is still on top. */
void tg_builtincalls_return (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                             uint32_t what);

#endif
