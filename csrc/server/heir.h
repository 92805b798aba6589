/*
** heir.h - a forked child goes on where its parent listened, when that has
** ended: a daemon that has left its parent behind is reached as it was.
**
**     fork           the child has no sockets, and its channel is hung up
**     parent ends    the kernel hangs up the lifeline, and sends SIGURG; or the
**                    collector comes by
**     a second on    SIGURG or the collector once more
**     safe point     the child opens the same addresses, with the same options,
**                    by a server of its own
**
** A child whose parent lives on does nothing, nor does one of a program that
** has closed its addresses itself. What became of it is told in one line on
** standard error for each address.
*/
#ifndef TG_HEIR_H
#define TG_HEIR_H

#include "state/session.h"
#include "binding/lx.h"

/* At a safe point, in the hook too: the process that listened has ended. */
void tg_heir_succeed (tg_Session *s, lua_State *L);            /* [-0, +0, -] */

/* In a child: what the state has inherited is let go of, and is not opened
   again. Nothing there is fine. */
void tg_heir_renounce (lua_State *L, tg_Session *s);           /* [-0, +0, -] */

/* In a child: an address that the state has inherited was closed; with the last
   of them it lets go of all. */
void tg_heir_waive (lua_State *L, tg_Session *s);              /* [-0, +0, -] */

#endif
