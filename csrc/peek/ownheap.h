/*
** ownheap.h - a heap snapshot of the state that asks for it, written by a
** child.
**
** The child is a copy of the process, made by clone: it has the memory as it
** was at that moment, and reads nothing else. So the program stands still for
** the clone alone, and nothing runs in it, nothing is collected, no object is
** made before. The child runs none of the program's code: no handler of fork,
** of exit, of signals; it has no file of the program's open, and it allocates
** apart (base/apart.h). Its end makes no signal, and nobody's wait finds it.
**
**     snapshot ─ look for the layout ─ clone ─┬─ read the result ─> table
**                                             └─ child: capture, write, say
*/
#ifndef TG_OWNHEAP_H
#define TG_OWNHEAP_H

#include "binding/lx.h"

/*
** snapshot(path, wait) -> result | nil, message, code. With 'wait' false the
** result has stopped_ms alone, and is called for the rest: result() waits, and
** gives what the other way gives at once. Fields: objects, bytes, state_bytes,
** garbage, stopped_ms.
*/
int ownheap_snapshot (lua_State *L);

void tg_ownheap_setup (lua_State *L);                       /* [-0, +0, m] */

#endif
