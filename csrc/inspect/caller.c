/*
** caller.c - see caller.h. Nothing here allocates or raises.
*/
#include "inspect/caller.h"

const void *tg_caller_ask (lua_State *L, const void *frame) {
  lua_Debug ar;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    if (ar.i_ci == frame)
      return lua_getstack(L, level + 1, &ar) ? (const void *)ar.i_ci : NULL;
  }
  return NULL;
}
