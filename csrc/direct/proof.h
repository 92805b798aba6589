#ifndef TG_PROOF_H
#define TG_PROOF_H
#include <lua.h>
#include "base/base.h"
bool tg_direct_begin (lua_State *L, const void **name);
#endif
