/*
** framenote.h - what is told between frames and is no frame itself: marks, and
** what was allocated.
**
** A part of the framer, with its state: the last step of a job each, which says
** whether 'out' is a packet now.
*/
#ifndef TG_FRAMENOTE_H
#define TG_FRAMENOTE_H

#include "reader/framer.h"

/* A mark, at the level at which a call would be. */
bool tg_framenote_mark (tg_Framer *fr, tg_Packet *out);

/* What the frame that is innermost now has allocated, as the event has it. */
bool tg_framenote_allocations (tg_Framer *fr, tg_Packet *out);

#endif
