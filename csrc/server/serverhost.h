/*
** serverhost.h - what the server's Lua sees of the process that it speaks for.
**
**   host:fd()                is readable when there is something to take
**   host:take()              the next event, or nothing:
**                            {kind = "listen" or "unlisten", id=, endpoint=,
**                            title=, address=, options=}, to be answered;
**                            {kind = "news" or "closed", endpoint=};
**                            {kind = "stop", ms=}, all is to end by then
**   host:answer(id, true, address)
**   host:answer(id, nil, message, code)
**   host:line(endpoint)      the server's end of that state's channel
**                            (clientchannel.h); nothing, if there is none
**   host:keep(fd), host:drop(fd)
**                            a descriptor that a forked child closes, and one
**                            that is not there any more
*/
#ifndef TG_SERVERHOST_H
#define TG_SERVERHOST_H

#include "binding/lx.h"

/* Creates the metatable, which serverstate.c gives to the object; raises. */
void tg_serverhost_setup (lua_State *L);                       /* [-0, +0, m] */

#endif
