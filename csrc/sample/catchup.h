/*
** catchup.h - what has happened while the hook was away (chain/window.h): the
** session's chain and its shadow stacks become what is.
**
** What ended meanwhile ends in the stream with the last event before, since
** nobody knows when. What began meanwhile and is still there is in the shadow
** stacks, hidden: so what it calls from now on has its place, and samples show
** it. Coroutines were suspended and resumed, as it seems, once at most. Nothing
** of all that counts as lost.
**
** In a hook, or in one of our own functions that the program has called; on the
** thread that runs the state, whose memory is read. Without memory, frames and
** coroutines are unknown as any that could not be kept.
*/
#ifndef TG_CATCHUP_H
#define TG_CATCHUP_H

#include "sample/stackwalk.h"

/* Up to now, while the window stays as it is. 'L' runs, whose innermost 'skip'
   frames have not begun yet. 'w' is overwritten. */
void tg_catchup_look (tg_Session *s, tg_StackWalk *w, lua_State *L, int skip,
                      uint64_t now);

/* The window, which may be open, is over: the same, and all that was muted is
   heard again. */
void tg_catchup_end (tg_Session *s, tg_StackWalk *w, lua_State *L, int skip,
                     uint64_t now);

#endif
