/*
** partingobject.h - where two recordings part, as Lua asks for it (parting.h).
*/
#ifndef TG_PARTINGOBJECT_H
#define TG_PARTINGOBJECT_H

#include "binding/lx.h"

/*
** Lua: parting(a, b) -> parting, of two replays at their first moments.
** A parting:
**   parting:turn(budget) -> word | nil
**                        "going" while they are the same; nil: they are the
**                        same to the end. Else both stay before the packet in
**                        which they differ, and the word says what differs:
**                        "end", "kind", "thread", "function", "place", "values"
** Raises without memory, or if one of them cannot be read.
*/
int partingobject_new (lua_State *L);

#endif
