/*
** hookfield.h - a coroutine's hook, set by its fields in memory.
**
** lua_sethook goes through all frames of the coroutine (settraps of ldebug.c):
** frames that may come and go while another thread does so, and 200,000 of them
** in a deep recursion, which takes a signal handler longer than the time to its
** next signal. What is written here is the fields of the lua_State, which each
** call and each return reads: whoever keeps that state alive may write them at
** any moment. Lua functions that run already are not told, but by what they
** call next, or their return; on the state's own thread the innermost one is.
**
** That it works is tried on a state of its own (probe_hooks.c).
*/
#ifndef TG_DIRECT_HOOKFIELD_H
#define TG_DIRECT_HOOKFIELD_H

#include "direct/frame.h"

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

/* Whether tg_hookfield_put can be called. */
TG_INLINE bool tg_hookfield_counts (void) {
  return tg_hookfield_known() && tg_direct_facts.hook_counts != 0;
}

/* Whether a hook of the coroutine runs now; 'true' where that is not known. */
TG_INLINE bool tg_hookfield_runs (const lua_State *L) {
  return tg_direct_facts.allows == 0
         || tg_read8(L, tg_direct_facts.allows) == 0;
}

/* A Lua function's frame looks for hooks of lines and counts with its next
   jump, or when what it has called returns (updatetrap of lvm.c). */
TG_INLINE void tg_hookfield_trap (const void *frame) {
  void *trap = (char *)(uintptr_t)frame + TG_AT_FRAME_TRAP;
  __atomic_store_n((int *)trap, 1, __ATOMIC_RELAXED);
}

/*
** What lua_sethook does, in its order, in the same time however deep the stack
** is. On the state's thread, also in a signal handler. Of the frames, the
** innermost alone is told: enough for a hook that goes with its first event,
** and for one that was there before, whose frames are told already. A hook may
** be put without a mask: it is there, and not called.
*/
TG_INLINE void tg_hookfield_put (lua_State *L, lua_Hook hook, int mask,
                                 int count) {
  void *field = (char *)L + tg_direct_facts.hook;
  void *counts = (char *)L + tg_direct_facts.hook_counts;
  void *events = (char *)L + tg_direct_facts.hook_mask;
  const void *frame = tg_direct_running(L);
  tg_assert(tg_hookfield_counts() && (hook != NULL || mask == 0));
  __atomic_store_n((lua_Hook *)field, hook, __ATOMIC_SEQ_CST);
  __atomic_store_n((int *)counts, count, __ATOMIC_SEQ_CST);
  __atomic_store_n((int *)counts + 1, count, __ATOMIC_SEQ_CST);
  __atomic_store_n((int *)events, mask, __ATOMIC_SEQ_CST);
  if (mask != 0 && !tg_frame_is_c(frame))
    tg_hookfield_trap(frame);
}

/* For which events the hook is called from now on; gives what was before. The
   hook stays, and its count goes on. On the state's thread. */
TG_INLINE int tg_hookfield_mask (lua_State *L, int mask) {
  void *events = (char *)L + tg_direct_facts.hook_mask;
  tg_assert(tg_hookfield_known());
  return __atomic_exchange_n((int *)events, mask, __ATOMIC_SEQ_CST);
}

#endif
