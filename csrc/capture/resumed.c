/*
** resumed.c - see resumed.h. Called in the hook, at calls of coroutine.resume,
** close, and what wrap gave.
*/
#include "capture/resumed.h"
#include "direct/frame.h"

/* Its one upvalue (luaB_cowrap in lcorolib.c). */
lua_State *tg_resumed_wrapped (lua_State *L, int i) {
  lua_State *co = NULL;
  TG_STACK_GUARD(L);
  if (lua_getupvalue(L, i, 1) != NULL) {
    co = lua_tothread(L, -1);
    lua_pop(L, 1);
  }
  TG_STACK_CHECK(L);
  return co;
}

/* NULL if it is something else: the arguments of a call that will fail may be
   anything. */
static lua_State *thread_of (tg_Slot v) {
  return (tg_slot_type(v) == LUA_TTHREAD)
         ? (lua_State *)(uintptr_t)v.u.p : NULL;
}

lua_State *tg_resumed_by (const tg_Coroutine *t, lua_State *L,
                          const lua_Debug *ar, tg_Role role) {
  if (role != TG_ROLE_WRAPPED)
    return lua_tothread(L, 1);
  return t->session->host.direct
         ? thread_of(tg_cfunction_upvalue(tg_frame_function(ar->i_ci)))
         : tg_resumed_wrapped(L, -1);
}
