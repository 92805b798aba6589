/*
** hookfield.h - a coroutine's hook, set by another thread than the one that
** runs it.
**
** lua_sethook is no way to do that: it goes through the frames of the coroutine
** (settraps of ldebug.c), which may come and go meanwhile. What is written here
** is two fields of the lua_State, which each call and each return reads: so
** whoever keeps that state alive may write them at any moment. Lua functions
** that run already are not told, but by what they call next, or their return.
**
** Where the two fields are is found out, and that it works is tried, on a state
** of its own (probe_hooks.c).
*/
#ifndef TG_DIRECT_HOOKFIELD_H
#define TG_DIRECT_HOOKFIELD_H

#include "direct/layout.h"

/* Whether it can be done to any state of this interpreter. */
TG_INLINE bool tg_hookfield_known (void) {
  return tg_direct_facts.hook != 0;
}

/* The hook comes first: a mask without a hook is none (luaD_hook). Each is only
   put where there is nothing, so whatever lua_sethook writes at the same time
   is there in the end: it too writes the hook before the mask. False: the
   coroutine has a hook already, which stays. */
TG_INLINE bool tg_hookfield_set (lua_State *L, lua_Hook hook, int mask) {
  void *field = (char *)L + tg_direct_facts.hook;
  void *events = (char *)L + tg_direct_facts.hook_mask;
  lua_Hook none = NULL;
  int nothing = 0;
  tg_assert(tg_hookfield_known());
  if (!__atomic_compare_exchange_n((lua_Hook *)field, &none, hook, false,
                                   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    return false;
  __atomic_compare_exchange_n((int *)events, &nothing, mask, false,
                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return true;
}

#endif
