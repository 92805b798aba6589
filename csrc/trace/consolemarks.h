/*
** consolemarks.h - the console's functions that put markers into traces.
*/
#ifndef TG_CONSOLEMARKS_H
#define TG_CONSOLEMARKS_H

#include "binding/lx.h"

/* Pushes a table of them, by name: timeStamp, time, log ... (marks.h). */
void tg_consolemarks_push (lua_State *L);                      /* [-0, +1, m] */

#endif
