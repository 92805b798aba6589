/*
** scrubrecording.h - a recording without what is to be kept secret, for Lua.
*/
#ifndef TG_SCRUBRECORDING_H
#define TG_SCRUBRECORDING_H

#include "binding/lx.h"

/*
** scrub(from, to, options) -> {secrets =, values =} | nil, message, code.
** 'options' says what is hidden: redact, redactPreset, redactIgnoreCase. 'to'
** must not be there.
*/
int recording_scrub (lua_State *L);

#endif
