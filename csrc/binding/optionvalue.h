/*
** optionvalue.h - kinds of values that options have: counts, limits, times,
** patterns, a header of W3C's.
**
** The value is on top of the stack, where nothing else is said, and stays
** there. What is wrong raises: the message names the option, what is allowed
** and what was given. Used by readoptions.c, and by what reads options of its
** own; on any thread, with that thread's state.
*/
#ifndef TG_OPTIONVALUE_H
#define TG_OPTIONVALUE_H

#include "binding/lx.h"
#include "options/selection.h"

/* Raises that 'allowed' was expected of the option. */
int tg_optionvalue_fail (lua_State *L, const char *name, const char *allowed);

/* Copies of values are C's memory, for which Lua has no message of its own. */
int tg_optionvalue_nomemory (lua_State *L);

uint64_t tg_optionvalue_count (lua_State *L, const char *name, uint64_t min,
                               uint64_t max,
                               const char *allowed);           /* [-0, +0, v] */

/* A count, or "all": TG_NOLIMIT. */
uint32_t tg_optionvalue_limit (lua_State *L,
                                const char *name);             /* [-0, +0, v] */

/* Nanoseconds of a number of milliseconds. */
uint64_t tg_optionvalue_ms (lua_State *L, const char *name);   /* [-0, +0, v] */

/* Whether a table has nothing but a list. */
bool tg_optionvalue_is_list (lua_State *L, int index);        /* [-0, +0, -] */

/* Appends a pattern, or a list of them. */
void tg_optionvalue_patterns (lua_State *L, const char *name,
                              tg_Patterns *list);              /* [-0, +0, v] */

/* A W3C traceparent, as the option of that name has it; of nil '*out' stays
   what it was. */
void tg_optionvalue_parent (lua_State *L, int index,
                            tg_SpanContext *out);              /* [-0, +0, v] */

#endif
