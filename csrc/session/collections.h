/*
** collections.h - when the collector works: each of its cycles as one interval,
** with the bytes of the heap before and after.
**
** Lua calls no hook for that. But nothing is collected without an object being
** freed or made, and each of these goes through the meter of allocations, which
** looks at three bytes of the interpreter's then (direct/collector.h): so a
** cycle is known from the first block that is made or freed in it to the first
** after it. Where those bytes are not known there are no intervals.
**
** For traces of allocations (allocations.h), told with those.
*/
#ifndef TG_COLLECTIONS_H
#define TG_COLLECTIONS_H

#include "state/session.h"

typedef struct tg_Collections tg_Collections;

/* The meter has been put there: from now on it looks. Without memory it does
   not. */
void tg_collections_begin (tg_Session *s);

/* The meter goes; what is left to be told is not. */
void tg_collections_end (tg_AllocMeter *m);

/* Room for what is to be told, in bytes. */
size_t tg_collections_room (const tg_Session *s);

/* Tells of it, up to 'now'; there is room. */
void tg_collections_note (tg_Session *s, uint64_t now);

#endif
