/*
** newtable.h - which instruction makes a table.
**
** Instructions note in their frame where they are before they allocate (savepc
** in lvm.c). OP_NEWTABLE does not, in any release from 5.4.0 to 5.5.0. The
** interpreter's own copy is in a register or on the C stack then, and always at
** the same place, as the way from there to the allocator is always the same:
** luaV_execute, luaH_new, luaC_newobj, luaM_malloc_. So that place is found
** out, on a state of its own whose tables are known, and what stands there is
** compared before it is believed. OP_SETLIST does not, either, but it allocates
** only behind a call or `...` that gives it its values, which has.
*/
#ifndef TG_DIRECT_NEWTABLE_H
#define TG_DIRECT_NEWTABLE_H

#include "direct/frame.h"

/* Finds the place, once in a process, and tells all meters of it
   (base/allocmeter.h). Memory may be read. */
void tg_newtable_find (void);

/* Whether that is behind an instruction of this function that makes a table:
   behind itself and its extra argument. 'pc' may be anything. */
bool tg_newtable_is (const void *proto, const uint32_t *pc);

/* How many blocks the same instruction asks for behind the table's own. */
uint32_t tg_newtable_parts (const uint32_t *pc);

#endif
