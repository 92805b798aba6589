/*
** cstack.h - which thread runs a Lua state: the one on whose stack the state's
** protected call stands (luaD_rawrunprotected), to which errors would jump.
**
** Each coroutine that runs, or has resumed one that does, notes the place of
** its own. A state that nobody runs has none, nor has one that a host has
** called without protection.
*/
#ifndef TG_DIRECT_CSTACK_H
#define TG_DIRECT_CSTACK_H

#include "direct/family.h"

/* Whether it can be told of any state of this interpreter. */
TG_INLINE bool tg_cstack_known (void) {
  return tg_direct_facts.jump != 0;
}

/* Whether 'L' runs on the stack whose last byte in use is at 'low' and whose
   end is at 'high'. */
TG_INLINE bool tg_cstack_runs (const lua_State *L, uintptr_t low,
                               uintptr_t high) {
  tg_assert(tg_cstack_known());
  uint64_t jump = tg_read64(L, tg_direct_facts.jump);
  return jump > low && jump < high;
}

#endif
