/*
** tellloss.h - on standard error: what a trace lacks that somebody looks at
** when it is over. Nothing, if that is nothing. errno stays what it was.
*/
#ifndef TG_TELLLOSS_H
#define TG_TELLLOSS_H

#include "state/session.h"

/* Of one that is recorded on a file, and settled: with what is to be known of
   its samples (ticking.h). */
void tg_tellloss_file (const tg_Trace *t);

/* Of one with a live log, not settled yet: what the log itself cannot know. */
void tg_tellloss_log (const tg_Trace *t);

#endif
