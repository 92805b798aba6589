/*
** jsonreader.h - JSON text as Lua values: what luasink and json are the other
** way.
**
** Strict (RFC 8259), and exact where the common libraries are not: a number
** without fraction and exponent is an integer if one can hold it, strings are
** UTF-8. JSON's null is the null light userdata (cjson.null). The text may
** come from anywhere.
*/
#ifndef TG_JSONREADER_H
#define TG_JSONREADER_H

#include "binding/lx.h"

/*
** Lua: decode(text, depth, meta) -> value | nil, message. Objects and arrays
** may nest 'depth' deep; empty arrays get the metatable 'meta', if it is not
** nil, since nothing else tells them from objects.
*/
int jsonreader_decode (lua_State *L);

#endif
