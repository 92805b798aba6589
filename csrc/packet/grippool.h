/*
** grippool.h - the objects that a packet's grips name, as descriptors.
**
** An object's properties may name further ones, which get the next indices: the
** pool is written from its beginning on and grows while it is. What the limits
** of the selection or the packet's budget cut is marked.
*/
#ifndef TG_GRIPPOOL_H
#define TG_GRIPPOOL_H

#include "packet/grips.h"

/* Writes the pool as an array; last, for all that was named before. */
void tg_grippool_write (tg_Grips *g);

#endif
