/*
** framestart.h - where reading begins, and where it begins again behind events
** that are missing: which coroutines there are then, and which frames.
**
** A part of the framer, with its state.
*/
#ifndef TG_FRAMESTART_H
#define TG_FRAMESTART_H

#include "reader/framer.h"

/* A CONTEXT; one that is met on the way says nothing new. */
void tg_framestart_context (tg_Framer *fr, const tg_Event *e);

/* All frames exit; what comes next begins with a CONTEXT. */
void tg_framestart_terminate (tg_Framer *fr);
void tg_framestart_lost (tg_Framer *fr, const tg_Event *e);

/* Whether the stacks say already what the event says; asked of the first ones
   after a beginning (tg_Ahead). */
bool tg_framestart_is_done (tg_Framer *fr, const tg_Event *e);

#endif
