/*
** makers.h - what was allocated, as the stream's markers tell: whose frame it
** is added to. Private to profile.c.
*/
#ifndef TG_MAKERS_H
#define TG_MAKERS_H

#include "profile/profile.h"

/* A marker; one that is of no allocation is nothing to a profile. False without
   memory. */
bool tg_makers_note (tg_Profile *p, const tg_Packet *k);

#endif
