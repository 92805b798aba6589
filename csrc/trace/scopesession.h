/*
** scopesession.h - sessions of the profiler service as Lua sees them.
**
** The protocol's messages, its numbers and its errors are Lua's business
** (lua/tracegrip/scope.lua); this is what it asks of a stopped trace.
*/
#ifndef TG_SCOPESESSION_H
#define TG_SCOPESESSION_H

#include "binding/lx.h"

/*
** Lua: scope(trace, how) -> session | nil, message, code. 'how', optional:
**   fromChunk   true: profiling began with the first main chunk called
**   stride      packets of a segment, for tests
**   portion     packets to be taken at a time: the session is only begun
** A session:
**   session:advance() -> boolean | nil, message, code
**                        takes the next portion; whether there are more, until
**                        which nothing else can be asked
**   session:info()       {events, segments, start_ms, duration_ms,
**                        callOverhead, returnOverhead}: what there is and how
**                        it is kept; start_ms as packets tell time; overheads
**                        in ms
**   session:timelines()  list of thread numbers
**   session:events(q, limit) -> Events, more | nil
**                        the answer, of 'limit' events at most, and whether
**                        there are more; nil: no such event
**   session:each(q) -> iterator | nil
**                        the same, an event at a time
** A question 'q': timeline (number), mode (number), eventID, maxDepth, types
** (bits by number), start, end (ms); all but the first two may be nil. Raises
** if the recording cannot be read.
*/
int scopesession_new (lua_State *L);

#endif
