/*
** ownheap.h - a heap snapshot of the state that asks for it, written by a
** child.
**
** The child and what it promises are picture.h's: the program stands still for
** the clone alone, and no object is made before.
*/
#ifndef TG_OWNHEAP_H
#define TG_OWNHEAP_H

#include "binding/lx.h"

/*
** snapshot(path, wait, marks?, scripts?) -> result | nil, message, code. With
** 'wait' false the result has stopped_ms alone, and is called for the rest:
** result() waits, and gives what the other way gives at once. Fields: objects,
** bytes, state_bytes, garbage, distant, made, stopped_ms. With marks
** (birthmarks.h) ids are by birth, and there are samples. 'scripts' has a
** debugger's numbers of files, by their names (profile/allocways.h).
*/
int ownheap_snapshot (lua_State *L);

void tg_ownheap_setup (lua_State *L);                       /* [-0, +0, m] */

#endif
