/*
** filetail.h - a recording that somebody is writing, as the bytes that a server
** would send of it (channel/blockstream.h): so a receiver shows it, adds it up
** or makes spans of it while it grows, and the program that is recorded has
** nothing to do with that.
*/
#ifndef TG_FILETAIL_H
#define TG_FILETAIL_H

#include "binding/lx.h"

/* Creates the metatable; raises. */
void tg_filetail_setup (lua_State *L);                         /* [-0, +0, m] */

/*
** Lua: tail(path, run) -> Tail. The file need not be there yet; one that is of
** another run (claim.h) is waited for to be replaced. 0: any.
**   tail:read()    the next bytes, for receiver:feed; nothing, if there are
**                  none now; nil, message, code: it cannot be read
**   tail:open()    whether the file has been seen
**   tail:over()    whether whoever wrote it has closed it
**   tail:close()
*/
int filetail_new (lua_State *L);

#endif
