/*
** heapend.h - a heap snapshot of a program at its end: of what is left when its
** main chunk is over and its state closes, or when it calls os.exit.
*/
#ifndef TG_HEAPEND_H
#define TG_HEAPEND_H

#include "binding/lx.h"

/*
** snapshotAtEnd(options) -> true. Options: path, of the snapshot; told, of a
** file into which goes what heap.lua's snapshot gives, as a Lua table's text,
** with why there is none as 'failed'; watch, options of a trace that runs until
** then, which tells who made the objects (tracedheap.h): if it ends before,
** what is told has why, 'ended'.
*/
int heapend_start (lua_State *L);

#endif
