/*
** region.h - memory for chunks of a stream that has grown: blocks cut from
** pieces that the system can give as one large page each.
**
** To get a page, clear it and enter it takes the system about the same for one
** of 4 KiB as for some of 2 MiB: of the time that recording a byte takes, fresh
** memory was up to half. A region is a supply (supply.h) of a few blocks; its
** memory goes back to the system when nobody needs any of them.
*/
#ifndef TG_REGION_H
#define TG_REGION_H

#include "stream/supply.h"

/* With as many bytes a stream is large enough for a region. */
#define TG_REGION_FROM ((size_t)1 << 20)

/* A region, pinned once; NULL without memory. It has blocks of TG_CHUNK_SIZE
   only. */
tg_Supply *tg_region_new (void);

/* Whether all its blocks have been given; NULL is full. */
bool tg_region_full (const tg_Supply *y);

#endif
