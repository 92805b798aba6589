/*
** frames.h - the frames of one coroutine for a dump: walked, then told, with
** values. Private to the files of dump.
*/
#ifndef TG_DUMP_FRAMES_H
#define TG_DUMP_FRAMES_H

#include "dump/dump.h"

#define TG_DUMP_FRAMES 1000u    /* of a coroutine, without 'all' */
#define TG_DUMP_FRAMES_ALL 400000u
#define TG_DUMP_SUM 100000u     /* of all coroutines, without 'all' */
#define TG_DUMP_SUM_ALL 2000000u

/* Fills in the frames of a coroutine. */
void tg_dumpframes_take (tg_Dump *d, tg_DumpThread *t,
                         const tg_Registers *registers);

void tg_dumpframes_free (tg_DumpThread *t);

#endif
