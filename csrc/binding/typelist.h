/*
** typelist.h - a set of trace types as a program has it: a list of names.
**
**     {"name", "callsite", "time"}  <->  TG_TYPE_NAME | TG_TYPE_CALLSITE | ...
*/
#ifndef TG_TYPELIST_H
#define TG_TYPELIST_H

#include "binding/lx.h"
#include "options/tracetypes.h"

/* The list at 'index', from the stack's bottom, by raw access. Raises for what
   is no list, naming the option 'trace', and for a name that is none, with all
   that are. */
uint32_t tg_typelist_read (lua_State *L, int index);           /* [-0, +0, v] */

/* Pushes the list, in the order of the types. */
void tg_typelist_push (lua_State *L, uint32_t types);          /* [-0, +1, m] */

#endif
