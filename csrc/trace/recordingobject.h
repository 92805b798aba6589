/*
** recordingobject.h - recordings as Lua sees them, once they are opened.
**
** A Recording is a userdata that has a Trace for each trace in the file, as if
** they had just been stopped; whatever a Trace offers works on them.
*/
#ifndef TG_RECORDINGOBJECT_H
#define TG_RECORDINGOBJECT_H

#include "base/base.h"
#include "binding/lx.h"

/* Creates the metatable; raises. */
void tg_recordingobject_setup (lua_State *L);                  /* [-0, +0, m] */

/* nil, message, code of a file that could not be read or written: what is no
   recording is told with the reason, what the system refused in its words. */
int tg_recordingobject_failure (lua_State *L, const char *path,
                                tg_Status status, const char *reason);

/* open(path) -> Recording | nil, message, code. */
int recording_open (lua_State *L);

#endif
