/*
** tickingnotes.h - what is to be known of ticks (ticking.h), for Lua.
*/
#ifndef TG_TICKINGNOTES_H
#define TG_TICKINGNOTES_H

#include "binding/lx.h"
#include "tick/ticking.h"

/* A list of texts, which may be empty. [-0, +1, m] */
void tg_tickingnotes_push (lua_State *L, const tg_Ticking *t);

#endif
