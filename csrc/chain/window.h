/*
** window.h - windows: time in which the program runs as if it were not traced,
** since its hook is away, so that ticks find what it does without us.
**
**     shut ──handler──> open ──handler──> behind ──next event──> shut
**                                         (or a function of ours)
**
** The hook stays on each coroutine, and so all that is above or below it, who
** asks and who is told (hooks.h); it is only not called: its mask is that of
** the program's own hook. So nothing else need know of windows, and the
** program's hook hears what it asked for. A coroutine that is made meanwhile
** inherits such a mask, and hears again when it is next met (tg_arm_hears).
**
** A coroutine that is resumed in a window, and is not muted yet, has one event,
** which mutes it.
**
** What the records lack when a window is over, sample/catchup.h finds out.
**
** On the thread that runs the state; where said, in a signal handler on it,
** which has seen to it that neither a hook nor a function of ours runs.
*/
#ifndef TG_WINDOW_H
#define TG_WINDOW_H

#include "state/session.h"

/* In a handler. All that runs, as running.h has it, is muted. */
void tg_window_open (tg_Session *s, uint64_t now);

/* In a handler, whatever runs: calls are heard again. */
void tg_window_shut (tg_Session *s, uint64_t now);

/* In a handler, while no window is open: whatever runs is heard. A hook that
   stood above ours when the window was shut may have given ours back as it was
   then. */
void tg_window_heed (tg_Session *s);

/* In the hook, while the window is not shut. True: the event was the program's
   alone, whose hook may have raised; while a window is open, 'L' is muted. */
bool tg_window_passes (tg_Session *s, lua_State *L, lua_Debug *ar,
                       uint64_t now);

/* The stream is told of the window that is over, if there is one and it has not
   been. */
void tg_window_tell (tg_Session *s, uint64_t now);

#endif
