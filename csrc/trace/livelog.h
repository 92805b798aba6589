/*
** livelog.h - a trace whose packets are written as lines while it runs.
*/
#ifndef TG_LIVELOG_H
#define TG_LIVELOG_H

#include "binding/lx.h"

/*
** Lua: log(options, style) -> Trace | nil, message, code. Options as for start;
** the style as in logstyle.h.
*/
int livelog_start (lua_State *L);

#endif
