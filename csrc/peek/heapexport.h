/*
** heapexport.h - the page of a heap snapshot, for the command line.
*/
#ifndef TG_HEAPEXPORT_H
#define TG_HEAPEXPORT_H

#include "binding/lx.h"

/*
** heappage(request) -> {objects, shown, bytes} | nil, message, code. The
** request is
**     file    a snapshot
**     title   what the page is called
**     page    the page, with a place for the data (graph/heappage.h)
**     out     the file that is written, "-" is standard output
**     limit   objects that are shown one by one; optional
** and what comes back how many objects the snapshot has, how many of them are
** shown, and the bytes of the page before compression.
*/
int heapexport_page (lua_State *L);

#endif
