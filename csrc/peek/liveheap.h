/*
** liveheap.h - objects of the state that calls, by their numbers in heap
** snapshots, and by their metatable: for debuggers, whose front ends show both.
**
** The state's lists are gone through in memory. Nothing may be allocated
** meanwhile and nothing collected, so addresses are noted first, with the
** collector stopped, and pushed then, into a table that was made before: an
** allocation that fails would collect, stopped or not. What the collector has
** found dead is never pushed.
*/
#ifndef TG_LIVEHEAP_H
#define TG_LIVEHEAP_H

#include "binding/lx.h"

/* heapid(value, marks?) -> the number of an object; nil: it is none, or
   message. That by birth (birthmarks.h), if it has one. */
int liveheap_id (lua_State *L);

/* heapobject(id, marks?) -> true, the object; false: none has that number. */
int liveheap_object (lua_State *L);

/* instances(prototype) -> list of tables and userdata whose metatable that is,
   or has it as __index. */
int liveheap_instances (lua_State *L);

#endif
