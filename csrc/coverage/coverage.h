/*
** coverage.h - counts calls and lines of a Lua state by events of a hook, which
** is the caller's: the command's (covering.h) or the debugger's (inspect/).
**
** Each event asks which function runs, so what was found out is remembered by
** the prototype's address; and since addresses are used again, compared with
** the prototype's source and lines each time.
*/
#ifndef TG_COVERAGE_H
#define TG_COVERAGE_H

#include <lua.h>

#include "counts/counts.h"

/* The events that are to be given. */
#define TG_COVERAGE_MASK (LUA_MASKCALL | LUA_MASKLINE)

typedef struct tg_Coverage tg_Coverage;

/* 'direct': the interpreter's memory may be read (direct/proof.h). 'texts':
   functions of loaded texts are counted as well, of which a program may have
   any number; else those of files alone. NULL without memory. */
tg_Coverage *tg_coverage_new (bool direct, bool texts);
void tg_coverage_free (tg_Coverage *c);       /* NULL is fine */

/* Counts lie in a file of that directory from now on (ledger.h), whose name is
   owned then. 'complain' is called, in the hook, if there will be none. Before
   the first event. */
void tg_coverage_write (tg_Coverage *c, char *directory,
                        void (*complain) (int error));

/* A call or a line; others are no harm. In the hook. */
void tg_coverage_event (tg_Coverage *c, lua_State *L,
                        const lua_Debug *ar);                  /* [-0, +0, -] */

/* All is counted from 0 again. */
void tg_coverage_reset (tg_Coverage *c);

/* What was counted so far is left where it is, and nothing known any more: in a
   forked child, whose parent it belongs to. */
void tg_coverage_renew (tg_Coverage *c);

/* Pushes a list of {source =, first =, last =, calls =, lines = {[line] = n}}
   of functions that have been called since the first event (pushcounts.h);
   tracegrip's own are left out. */
void tg_coverage_push (const tg_Coverage *c, lua_State *L);    /* [-0, +1, m] */

#endif
