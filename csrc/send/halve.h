/*
** halve.h - a request of spans that a collector says is too large.
*/
#ifndef TG_HALVE_H
#define TG_HALVE_H

#include "binding/lx.h"

/*
** Lua: halve(request, encoding, gzipped) -> request, n, request, n: the same
** spans in two, and how many are in each; nothing, if there is one span, if the
** request is none that receive gives (receiver.h), or without memory.
*/
int halve_request (lua_State *L);

#endif
