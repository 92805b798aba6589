#include "state/session.h"

tg_Session *tg_session_find (lua_State *L) {
  tg_Session *s;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_session);
  s = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return s;
}
