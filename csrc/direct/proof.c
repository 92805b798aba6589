#include "direct/proof.h"
#include "direct/frame.h"
#include "binding/lx.h"
#include <stdlib.h>
tg_DirectFacts tg_direct_facts = {1 << 8, false};
bool tg_direct_begin (lua_State *L, const void **name) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, TG_KEY_NAME);
  *name = tg_direct_pushed(L).u.p;
  lua_pop(L, 1);
  const char *e = getenv("TRACEGRIP_DIRECT");
  return e == NULL || *e != '0';
}
