/*
** spying.h - samples of another process, for the command line: recorded, added
** up, or both.
**
** On the thread that calls, which is busy with it for as long as it says.
*/
#ifndef TG_SPYING_H
#define TG_SPYING_H

#include "binding/lx.h"

/* Creates the metatable; raises. */
void tg_spying_setup (lua_State *L);                           /* [-0, +0, m] */

/*
** spy(pid, options, file, profiled) -> Spy | nil, message, code. The options
** are those of a trace of samples, and 'stop': the thread that runs Lua stands
** still while it is looked at. 'file' is what it is to be recorded on, or nil
** (client/destination.h); 'profiled' whether it is added up as well. Codes are
** words (peek.h), or the system's numbers where the file is refused.
**   spy:run(ms)      takes samples for so long: "running", "ended", "changed"
**                    (another program), "full" (no room); or nil, message, code
**   spy:profile(lines)  the sums so far (client/liveprofile.h)
**   spy:counts()     {taken, retried, dropped = {reason = n}, clock, lua,
**                    stopped_ms}
**   spy:finish()     the end: true | nil, message, code
*/
int spying_new (lua_State *L);

#endif
