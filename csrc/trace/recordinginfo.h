/*
** recordinginfo.h - what is known of a recording, as a Lua table.
*/
#ifndef TG_RECORDINGINFO_H
#define TG_RECORDINGINFO_H

#include "binding/lx.h"
#include "recording/open.h"

/*
** Pushes all that is known of the recording of that path, whose Traces are in
** the list at 'traces'. 'brief': without what takes reading all of the events;
** else the function at 'progress' (nil: none) is told how far that is. Raises
** without memory, and what 'progress' raises.
*/
void tg_recordinginfo_push (lua_State *L, tg_Recording *r, const char *path,
                            int traces, bool brief, int progress);
                                                              /* [-0, +1, e] */

#endif
