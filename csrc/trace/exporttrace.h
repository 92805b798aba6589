/*
** exporttrace.h - traces into files for viewers, from Lua.
*/
#ifndef TG_EXPORTTRACE_H
#define TG_EXPORTTRACE_H

#include "binding/lx.h"

/*
** trace:export(format, path, options) -> result | nil, message, code. Options
** are those of a filter and
**   limit           calls; beyond it they are left out (the format's default)
**   samples         chrome: samples as well
**   sources         firefox: with the text of sources
**   geckoVersion    gecko: 5 or 36
**   progress        a function, called now and then with the part that is done,
**                   0 to 1; what it raises ends the export
** The result is a table: calls, leftOut, folded, depth, limit (of the format,
** nil if there is none), bytes (before compression).
*/
int trace_export (lua_State *L);

/* exportFormats() -> list of {name, what, ending, limit, depth}. */
int export_formats (lua_State *L);

#endif
