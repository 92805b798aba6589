/*
** saved.h - a trace, as far as it has come, into a file (saving.h).
*/
#ifndef TG_SAVED_H
#define TG_SAVED_H

#include "state/state.h"

/* TG_ERR_IO and TG_ERR_MEMORY with errno. */
tg_Status tg_saved (const tg_Trace *t, const tg_Program *program,
                    const char *path);

#endif
