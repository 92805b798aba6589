/*
** ownfunctions.h - which functions are tracegrip's own, never to be shown.
**
** C functions by the library they are in; Lua functions by their source, which
** each module of ours registers. One list for the process, behind a mutex.
*/
#ifndef TG_OWNFUNCTIONS_H
#define TG_OWNFUNCTIONS_H

#include "binding/lx.h"

/* The list may be used from now on, until the process exits. Often is fine. */
void tg_ownfunctions_setup (void);

/* Marks the functions of this source as ours; false without memory. */
bool tg_ownfunctions_add (const char *source, size_t size);

/* The same of all files in the source's directory or below, from their main
   chunk on. */
bool tg_ownfunctions_add_beside (const char *source);

/* This C function of ours stands in for one of Lua's: it is shown. */
void tg_ownfunctions_except (lua_CFunction f);

/* Whether a C function is in our library; in a signal handler, too. */
bool tg_ownfunctions_code (const void *f);

/* Whether the function on top of the stack ('ar' filled with "S") is ours. */
bool tg_ownfunctions_function (lua_State *L, const lua_Debug *ar);
                                                              /* [-0, +0, -] */

#endif
