/*
** proof.h - whether the interpreter's memory may be read, found out before any
** of it is.
**
** The layout (layout.h) is compared with the public API, once in a process, on
** objects of a state of its own (probe.h): every kind of value, strings,
** tables in all their forms, and calls seen from a hook. One difference, and
** the public API is used, which gives the same packets.
*/
#ifndef TG_PROOF_H
#define TG_PROOF_H

#include <lua.h>

#include "base/base.h"

/* NULL: memory may be read. Else why not: the environment says so
   (TRACEGRIP_DIRECT=0), or what was found to be otherwise. Any thread. */
const char *tg_proof_objection (void);

/* Whether tracing of this state may read memory: there is no objection, and
   the state itself is as the layout says. */
bool tg_proof_holds (lua_State *L);                          /* [-0, +0, -] */

#endif
