/*
** symbol.h - what a C function is called where it comes from: its library and
** its name there, "luv.so!luaopen_luv"; or, of one that the library does not
** export, as most are not, how far into the library it is,
** "socket/core.so+0x1a2b", which addr2line understands.
**
** Asked of the loader, which looks through the names of one library: not for a
** signal handler, and not often.
*/
#ifndef TG_SYMBOL_H
#define TG_SYMBOL_H

#include "base/base.h"

/* Allocated; NULL without memory, and of code that is in no file, or in ours.
   In the file that 'home' is in only what it exports has one: a distance into
   the interpreter is another with each of its builds, and says nothing. */
char *tg_symbol_of (const void *code, const void *home);

#endif
