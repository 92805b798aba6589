/*
** replayobject.h - a recording's moments as Lua sees them: where it is, the way
** to another moment, what there is to see (replay.h, search.h).
**
** What a moment means to a debugger is Lua's business (lua/tracegrip/dap).
*/
#ifndef TG_REPLAYOBJECT_H
#define TG_REPLAYOBJECT_H

#include "binding/lx.h"
#include "replay/replay.h"

/* The replay of the object at 'i'; raises. */
tg_Replay *tg_replayobject_check (lua_State *L, int i);        /* [-0, +0, v] */

/* Raises if that replay cannot be read any more. Damage is its end, of which
   the trace's field 'damage' tells from now on. */
void tg_replayobject_check_status (lua_State *L, int i);       /* [-0, +0, v] */

/* Pushes a packet of that replay as its own methods do; its entry is not
   known. */
void tg_replayobject_push (lua_State *L, int i, const tg_Packet *p);
                                                               /* [-0, +1, v] */

/*
** Lua: replay(trace, filter) -> replay. The filter, optional, may also have,
** for tests, 'every' so many packets a waypoint, which take 'most' bytes
** together. Its minimum of time, and the trace's, are not heeded. Raises
** without memory.
**
** A replay:
**   replay:go(number, budget?) -> boolean
**                        to that moment, or the last one; false: not yet, since
**                        the budget (packets) is used up
**   replay:moment()      {number, time_ms, running, stands, unkept, total}:
**                        'total' packets if that is known, 'unkept' of the
**                        markers until here, 'time_ms' of the last packet
**   replay:records(type) -> boolean
**                        whether the trace has that type
**   replay:last(), :coming() -> packet | nil
**                        what has happened last, and what comes next: packets,
**                        also with name, url, line, function (its id) and the
**                        frame's 'entry', the number of what entered it; of an
**                        error that comes, how many frames it 'unwinds'
**   replay:call() -> packet | nil
**                        what entered the frame of the last packet
**   replay:threads()     list of {thread, frames, open, body}: coroutines that
**                        have frames; of those that have yielded 'open' is 0
**   replay:frames(thread, first, count) -> list
**                        {name, url, line, last_line, c, reached, entry, seen,
**                        sampled} from the innermost (first = 1) outwards;
**                        'line' of its definition, 'reached' of its latest call
**   replay:arguments(thread, i) -> packet | nil
**                        what entered the frame that is the i-th from inside
**   replay:locals(thread, i) -> list | nil
**                        the locals of a frame that is not innermost, as they
**                        were told where it made its call
**   replay:markers(from, to, most) -> list, more
**                        what the program has said after moment 'from', up to
**                        'to'; how many more there are
**   replay:functions()   list of {id, name, url, line, last_line, c}
**   replay:stop_at(list, errors, moments?)
**                        from now on the stops are these: {id, line?, call?,
**                        result?}; and these moments: a list, in order
**   replay:search(move, thread, stopping?)
**                        begins one: "in", "over", "out", "on", "backIn",
**                        "backOver", "backOut", "back"; whether stops count
**   replay:turn(budget) -> state, why
**                        "going", "candidate", "found", "edge"; 'why' of a
**                        candidate: set of "call", "line", "error", "result",
**                        "moment"
**   replay:accept()      the candidate is one
**
** What cannot be read any more raises, as a trace's packets do.
*/
int replayobject_new (lua_State *L);

#endif
