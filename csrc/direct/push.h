/*
** push.h - a value that was read from memory, pushed onto a stack of Lua's: the
** public API has no way to a function of which only the object is known.
**
** The object must be alive.
*/
#ifndef TG_DIRECT_PUSH_H
#define TG_DIRECT_PUSH_H

#include "direct/value.h"

/* A slot is filled as Lua itself fills it (setobj of lobject.h): a stack needs
   no barrier, since the collector looks at it last. */
TG_INLINE void tg_direct_push (lua_State *L, tg_Slot v) {      /* [-0, +1, -] */
  lua_pushnil(L);
  uint8_t *top = (uint8_t *)(uintptr_t)tg_read_pointer(L, TG_AT_STATE_TOP);
  memcpy(top - TG_SIZE_SLOT, &v.u, sizeof v.u);
  top[sizeof v.u - TG_SIZE_SLOT] = (uint8_t)v.tag;
}

#endif
