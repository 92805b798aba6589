/*
** report.h - a trace's time by function, and by the way that led there, as Lua
** tables.
*/
#ifndef TG_REPORT_H
#define TG_REPORT_H

#include "binding/lx.h"

/*
** Methods of a Trace: report(filter) and tree(filter); nil, message, code if
** its events cannot be read. The filter may have a key of its own:
**   progress   a function, called now and then with the part that has been
**              read; what it raises ends that
*/
int trace_report (lua_State *L);
int trace_tree (lua_State *L);

#endif
