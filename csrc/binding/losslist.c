/*
** losslist.c - see losslist.h. On any thread, with that thread's state.
*/
#include "binding/losslist.h"

void tg_losslist_push (lua_State *L, const uint64_t lost[TG_NLOSSES]) {
  lua_pushnil(L);
  for (int i = 0; i < TG_NLOSSES; i++) {
    if (lost[i] == 0)
      continue;
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      lua_newtable(L);
    }
    lx_set_integer(L, tg_endreason_loss(i), (lua_Integer)lost[i]);
  }
}
