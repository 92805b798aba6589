/*
** ownframes.h - frames of tracegrip's own that stand when tracing begins.
*/
#ifndef TG_OWNFRAMES_H
#define TG_OWNFRAMES_H

#include "state/session.h"

/* Those on top of the running stack get a frame, so that what they go on to
   call stays hidden. */
void tg_ownframes_push (tg_Session *s, lua_State *L);          /* [-0, +0, -] */

#endif
