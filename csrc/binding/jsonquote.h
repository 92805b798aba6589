/*
** jsonquote.h - text of Lua's side as JSON has it.
*/
#ifndef TG_JSONQUOTE_H
#define TG_JSONQUOTE_H

#include "binding/lx.h"

/* Lua: quoted(text) -> the text with its quotes (jsontext.lua). */
int jsonquote_text (lua_State *L);

#endif
