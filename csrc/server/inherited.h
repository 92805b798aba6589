/*
** inherited.h - the descriptors of the server's that a forked child has too,
** and must close: so clients see the end of the parent.
**
** One list for the process; callers have the server's mutex.
*/
#ifndef TG_INHERITED_H
#define TG_INHERITED_H

#include "base/base.h"

/* Beyond a limit a child keeps a client's connection open until it exits: no
   more than a flaw. */
void tg_inherited_add (int fd);
void tg_inherited_remove (int fd);

/* All of them are closed by somebody else. */
void tg_inherited_forget (void);

/* In the child. */
void tg_inherited_close (void);

#endif
