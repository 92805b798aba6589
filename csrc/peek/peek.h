/*
** peek.h - other processes and cores, for the command line: what runs in them.
**
** On the thread that calls, which stops others for as long as peek.c says. What
** the world refuses is nil, message, code; codes are words: "gone",
** "forbidden", "nolua", "unknown", "unfit", "failed".
*/
#ifndef TG_PEEK_H
#define TG_PEEK_H

#include "binding/lx.h"

/*
** dump(target, options) -> document | nil, message, code. The target is a
** process's number, or the path of a core. Options are those of values, and
**     json           the document as text; else tables
**     locals, upvalues, all, noStop    as the command line has them
**     exe, sysroot   of a core
*/
int peek_dump (lua_State *L);

/* glance(pid) -> {lua, states, coroutines, running} | nil, message, code. Does
   not stop anything. */
int peek_glance (lua_State *L);

/* cputime(pid) -> milliseconds that a process has run. */
int peek_cputime (lua_State *L);

/* livingthread(pid) -> the number of a thread by which the system shows a
   process (process.h) | nil: it has ended. */
int peek_livingthread (lua_State *L);

#endif
