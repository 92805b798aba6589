/*
** machinery.h - what a session traces by, while there is a trace: the stream
** and its writer, records of coroutines, what is known of functions; and the
** hook, from the first trace on that wants calls.
**
**     idle ──begin──> tracing ──begin, with calls──> hooked ──end──> idle
**
** All of it goes with the last trace, but for the stream, which lives as long
** as somebody reads it.
*/
#ifndef TG_MACHINERY_H
#define TG_MACHINERY_H

#include "state/session.h"

/* Whatever is not there yet; with 'calls' the hook too. False without memory:
   what was there stays, and no more. */                       /* [-0, +0, -] */
bool tg_machinery_begin (tg_Session *s, lua_State *L, bool calls);

/* There are no traces any more. */                            /* [-0, +0, -] */
void tg_machinery_end (tg_Session *s, lua_State *L);

#endif
