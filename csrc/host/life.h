/*
** life.h - how the host of a state begins and ends, and what all hosts of the
** process are told of: that it forks, that it exits.
*/
#ifndef TG_LIFE_H
#define TG_LIFE_H

#include "host/host.h"

/* Makes 'h', zeroed memory, the host of the state: the first is, if a finalizer
   of the program's has made another one meanwhile. The userdata of which 'h' is
   a part is on top of the stack. */
tg_Host *tg_life_begin (tg_Host *h, lua_State *L);             /* [-1, +0, m] */

/* The state closes: its parts do, one after the other. Nothing finds the host
   any more. */
void tg_life_end (tg_Host *h, lua_State *L);                   /* [-0, +0, m] */

/* Whether the state is about to close, and has no host any more. */
bool tg_life_ended (lua_State *L);                             /* [-0, +0, -] */

/* The list of hosts stays as it is until tg_life_let; false: another thread is
   at it, perhaps for long. Any thread. */
bool tg_life_hold (void);
void tg_life_let (void);

/* The host of the state with that main thread, in a list that is held; NULL: it
   has none. */
tg_Host *tg_life_host (const lua_State *main);

/* From now on hosts are told when the process forks and exits. Often is
   fine. */
void tg_life_setup (void);

#endif
