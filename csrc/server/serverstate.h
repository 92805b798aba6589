/*
** serverstate.h - the Lua state in which the server runs: made on the server's
** thread (serverthread.h), and closed there. Nothing of it is shared.
*/
#ifndef TG_SERVERSTATE_H
#define TG_SERVERSTATE_H

#include "base/base.h"

/* The metatable of the object with which the server's Lua runs (serverhost.h);
   its state has one by that name. */
#define TG_SERVERHOST "tracegrip.host"

/* Runs the server until it ends, with 'path' and 'cpath' for package.path and
   package.cpath. Into 'trouble', of 'size' bytes: why it ended, if it should
   not have; else "". */
void tg_serverstate_run (const char *path, const char *cpath, char *trouble,
                         size_t size);

#endif
