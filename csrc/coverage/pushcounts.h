/*
** pushcounts.h - counts as Lua has them.
*/
#ifndef TG_PUSHCOUNTS_H
#define TG_PUSHCOUNTS_H

#include "binding/lx.h"
#include "counts/counts.h"

/* Pushes a list of {source =, first =, last =, calls =, lines = {[line] = n}}
   of all functions. With 'places' sources are those of ledgerreader.h, and each
   function has the field 'directory': "" if its source needs none. */
void tg_pushcounts (const tg_Counts *c, lua_State *L,
                    bool places);                              /* [-0, +1, m] */

#endif
