/*
** anchor.h - Traces that the program does not hold itself (the console's, a
** live log's, a recording's, a feed's) are kept alive in the registry: until
** they are stopped, or have ended by themselves and no observer has to tell of
** it.
*/
#ifndef TG_ANCHOR_H
#define TG_ANCHOR_H

#include "state/session.h"

/* Keeps the Trace on top of the stack, which is 't', alive. */
void tg_anchor_put (lua_State *L, tg_Trace *t);                /* [-0, +0, m] */

/* Lets go of it. Allocates nothing: may be called in the hook. Of one that is
   not anchored, nothing happens. */
void tg_anchor_release (lua_State *L, tg_Trace *t);            /* [-0, +0, -] */

#endif
