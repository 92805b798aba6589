/*
** roles.h - which C functions mean something to the tracer.
**
** The functions of Lua's own libraries that start, end or cross frames, found
** by address: what a program did to its globals does not matter.
*/
#ifndef TG_ROLES_H
#define TG_ROLES_H

#include "lx.h"
#include "function.h"

/* Learns the addresses from a pristine state, once per process. False when
   no state could be made. */
bool tg_roles_setup (void);

/* The role of a C function. */
tg_Role tg_role_of (lua_CFunction f);

/* debug.sethook and debug.gethook as Lua made them. */
extern lua_CFunction tg_real_sethook, tg_real_gethook;

/* The hook that debug.sethook installs, which calls the Lua function. */
extern lua_Hook tg_lua_hook;

#endif
