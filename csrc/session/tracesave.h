/*
** tracesave.h - a trace, as far as it has come, into a file (save.h).
*/
#ifndef TG_TRACESAVE_H
#define TG_TRACESAVE_H

#include "state/session.h"

/* TG_ERR_IO and TG_ERR_MEMORY with errno. */
tg_Status tg_tracesave (const tg_Trace *t, const tg_Program *program,
                        const char *path);

#endif
