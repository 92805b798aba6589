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
#include "profile/allocways.h"
#include "stream/stream.h"

typedef struct tg_MemoryTrace {
  const tg_Options *options;    /* NULL: there is none */
  tg_Stream *stream;
  const char *path;     /* of the file that has its events; NULL: the stream
                           still has them */
  tg_Pos start, stop;
  const tg_Origins *origins;    /* of the blocks */
  const tg_ScriptIds *scripts;  /* of a debugger; NULL: of none */
} tg_MemoryTrace;

/* Of traces with all that is allocated the one that began first, of those whose
   events are all to be had. What has been allocated so far is written to its
   stream, which may end it, as any event may. 'waits': the program stands still
   until they have been read. Makes nothing in the state; on its thread. */
tg_MemoryTrace tg_memorytrace_find (lua_State *L, bool waits); /* [-0, +0, -] */

/* The same in a child that another thread has made at any moment, of the state
   with that main thread, while its list of hosts is held (host/life.h). What
   was allocated last may not be in the stream. False: just then something was
   being changed. */
bool tg_memorytrace_seek (const lua_State *main, tg_MemoryTrace *found);

#endif
