/*
** longcalls.h - functions of Lua's own that may run for long, known from the
** first sample on: what a tick meets in one that does not return has no other
** chance to get a name (glance.h).
*/
#ifndef TG_LONGCALLS_H
#define TG_LONGCALLS_H

#include "state/session.h"

/* Those that are where Lua has put them. Without memory, some. */
void tg_longcalls_know (tg_Session *s, lua_State *L);          /* [-0, +0, -] */

#endif
