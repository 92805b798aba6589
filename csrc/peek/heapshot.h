/*
** heapshot.h - heap snapshots for Lua: of a process or a core, and what is in a
** file.
**
** What the world refuses is nil, message, code, as in peek.h.
*/
#ifndef TG_HEAPSHOT_H
#define TG_HEAPSHOT_H

#include "binding/lx.h"

/*
** heap(target, path, options) -> result | nil, message, code. The target is a
** process's number or the path of a core. Options: exe, sysroot, of a core;
** fork, of a process: it stands still for a fork alone.
** The result is
**     objects, bytes   in the snapshot
**     state_bytes      what the state says that it has in use
**     stopped_ms       how long the process stood still
**     garbage          bytes that nothing reaches
**     distant          objects whose number may be another's (heap/birth.h)
**     lua, states, tries
**     left             of a fork, the number of what has ended and is not gone
*/
int heapshot_take (lua_State *L);

#endif
