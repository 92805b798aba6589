/*
** display.h - text for a terminal, as the command line's tables need it: what
** terminal.h does, for Lua.
*/
#ifndef TG_DISPLAY_H
#define TG_DISPLAY_H

#include "binding/lx.h"

/* escaped(text) -> text that can do no harm to a line: tg_terminal_escape. */
int display_escaped (lua_State *L);

/* textwidth(text) -> the columns that it takes: tg_terminal_columns. */
int display_textwidth (lua_State *L);

#endif
