/*
** shape.h - what tells Lua functions apart that begin and end on the same
** lines, as hashes.
**
** Their shape: the names of their parameters and upvalues, in order. Both ways
** to know give the same hash for the same function.
**
** What they do, where memory is read: the kinds of their first instructions and
** the strings among their first constants. Not the numbers: rules or templates
** that a program makes by the thousand mostly differ in these, and are better
** taken for one function.
*/
#ifndef TG_SHAPE_H
#define TG_SHAPE_H

#include "binding/lx.h"

/* Of the Lua function on top of the stack; 'ar' has "u". Uses one slot of the
   stack. */
uint64_t tg_shape_ask (lua_State *L, const lua_Debug *ar);     /* [-0, +0, -] */

/* From memory, of a function with so many upvalues. */
uint64_t tg_shape_read (const void *proto, unsigned upvalues);

/* What it does. */
uint64_t tg_shape_code (const void *proto);

#endif
