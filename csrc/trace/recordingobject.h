/*
** recordingobject.h - recordings as Lua sees them, once they are opened.
**
** A Recording is a userdata that has a Trace for each trace in the file, as if
** they had just been stopped; whatever a Trace offers works on them.
*/
#ifndef TG_RECORDINGOBJECT_H
#define TG_RECORDINGOBJECT_H

#include "binding/lx.h"

/* Creates the metatable; raises. */
void tg_recordingobject_setup (lua_State *L);                       /* [-0, +0, m] */

/* open(path) -> Recording | nil, message, code. */
int recording_open (lua_State *L);

#endif
