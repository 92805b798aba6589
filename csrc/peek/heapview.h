/*
** heapview.h - what is in heap snapshots, for the command line.
*/
#ifndef TG_HEAPVIEW_H
#define TG_HEAPVIEW_H

#include "binding/lx.h"

/*
** heapview(request) -> document | nil, message, code. The request is
**     what    "summary", "paths", "find", "duplicates", "empty", "makers",
**             "diff" or "growing"
**     files   paths: of "diff" the new one and the old one, of "growing" two
**             or more, else one
**     limit   rows at most
**     id      of the node that "paths" is about
**     word    that "find" looks for
**     json    the document as text; else tables
*/
int heapview_ask (lua_State *L);

#endif
