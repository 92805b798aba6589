/*
** memorytrace.h - the trace that has followed the allocations of a state: whose
** it is, what of its stream tells them, and which blocks there are.
**
** All of it is borrowed, and of the moment at which it was found: for a child
** that is made then (picture.h).
*/
#ifndef TG_MEMORYTRACE_H
#define TG_MEMORYTRACE_H

#include "base/origins.h"
#include "binding/lx.h"
#include "options/options.h"
#include "stream/stream.h"

typedef struct tg_MemoryTrace {
  const tg_Options *options;    /* NULL: there is none */
  tg_Stream *stream;
  tg_Pos start, stop;
  const tg_Origins *origins;    /* of the blocks */
} tg_MemoryTrace;

/* Of traces with all that is allocated the one that began first, of those that
   are in memory. What has been allocated so far is written to its stream, which
   may end it, as any event may. Makes nothing in the state; on its thread. */
tg_MemoryTrace tg_memorytrace_find (lua_State *L);             /* [-0, +0, -] */

#endif
