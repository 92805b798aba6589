/*
** luatext.h - whether a text is a Lua chunk: what a chunk says of where it
** comes from may be anything, and a file that is no Lua was not loaded by it.
*/
#ifndef TG_LUATEXT_H
#define TG_LUATEXT_H

#include "binding/lx.h"

/* Compiles it, as a file, in a state of its own; nothing of it runs. False
   without memory. Any thread, also in the hook. */
bool tg_luatext_is (const char *text, size_t size);

#endif
