/*
** replayfunctions.h - definitions of functions from what packets say of them.
**
** A packet of the protocol names a function by its words: name, url, line,
** parameters. The same words are the same function, unless hit counts, of which
** each function has its own, tell that there are more. For streams that are
** made of packets (replay.h).
*/
#ifndef TG_REPLAYFUNCTIONS_H
#define TG_REPLAYFUNCTIONS_H

#include "binding/lx.h"
#include "stream/functions.h"

/*
** The function that the table at 'at' describes, with its place in the table at
** 'place' (the same, or a "location"; 0: not known). 'ids' is a table of this
** file's, kept by the caller: empty at first. 0: no memory outside Lua. Raises
** what Lua raises.
*/
tg_FunctionId tg_replayfunctions_id (lua_State *L, int ids, int at, int place,
                                     tg_Functions *fs);           /* [-0, +0, m] */

/*
** Which of the functions with the words of 'id' was entered, 'hits' being its
** hit count; 'id' if that cannot be said. As above.
*/
tg_FunctionId tg_replayfunctions_hit (lua_State *L, int ids, tg_FunctionId id,
                                      lua_Integer hits,
                                      tg_Functions *fs);              /* [-0, +0, m] */

/* Whether two functions have the same words. */
bool tg_replayfunctions_alike (const tg_Functions *fs, tg_FunctionId a,
                               tg_FunctionId b);

/* Any function of a source: all that a call site says of its caller. The url is
   on top of the stack. */
tg_FunctionId tg_replayfunctions_source (lua_State *L, int ids,
                                         tg_Functions *fs);           /* [-1, +0, m] */

#endif
