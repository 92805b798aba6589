/*
** valuecopy.h - a list of values without what it refers to elsewhere.
**
** Where a list stands, strings and tables of it may be those of earlier lists
** of the chunk (STRAGAIN and LIKE, values.h). A copy has them in itself, so it
** needs neither the chunk nor its place in it. Plain C: any thread.
*/
#ifndef TG_VALUECOPY_H
#define TG_VALUECOPY_H

#include "base/buf.h"
#include "stream/values.h"

/*
** Appends a copy that stands by itself: strings that are elsewhere are put in,
** up to 'most' bytes of them (and TG_PACKET_MAX); returns how many. Malformed
** bytes stay malformed.
*/
size_t tg_valuecopy (tg_Buf *out, tg_Slice bytes, size_t most);

/* So much of strings put in is enough for all the copies that somebody holds:
   a few bytes of a recording can ask for any amount. */
#define TG_COPIES_MAX ((size_t)64 << 20)

#endif
