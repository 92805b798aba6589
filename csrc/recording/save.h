/*
** save.h - a part of a stream from memory into a file: a recording like that
** which a file makes, of one trace.
*/
#ifndef TG_SAVE_H
#define TG_SAVE_H

#include "recording/entries.h"
#include "stream/stream.h"

/*
** Writes 'path': the events of 'stream' from the entry's 'start' (or where a
** ring now begins) to 'stop', with the definitions and this one trace. What was
** there before is replaced when all of it is written, and not before. TG_ERR_IO
** (errno), TG_ERR_MEMORY.
*/
tg_Status tg_save (const char *path, tg_Stream *stream,
                   const tg_Program *program, const tg_TraceEntry *trace,
                   tg_Pos stop);

/* The same into a file that is open and empty. */
tg_Status tg_save_into (int fd, tg_Stream *stream, const tg_Program *program,
                        const tg_TraceEntry *trace, tg_Pos stop);

#endif
