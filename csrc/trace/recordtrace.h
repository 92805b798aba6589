/*
** recordtrace.h - traces onto files, from Lua.
*/
#ifndef TG_RECORDTRACE_H
#define TG_RECORDTRACE_H

#include "binding/lx.h"

/*
** record(options, file) -> path, Trace | nil, message, code: starts a trace
** that is recorded on a file until it ends; the program does not see it. The
** file:
**   path        string
**   exclusive   true: if there is such a file, PATH.PID instead, but...
**   run         integer: a recording of another run makes way (claim.h)
**   force       true: and so does any other file
**   sources     true: the text of sources too
**   tells       true: what was lost, but by a ring, is told on standard error,
**               at the end
**   program     string, and 'arguments', a list of strings: for "info"
*/
int record_start (lua_State *L);

/* trace:save(path) -> true | nil, message, code. */
int trace_save (lua_State *L);

#endif
