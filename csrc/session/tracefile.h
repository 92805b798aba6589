/*
** tracefile.h - a session's stream on a file: for as long as the trace that
** records on it does.
**
** One trace at most has the file (session.on_file). The stream's chunks are the
** file's from its start to its end; traces that run meanwhile are noted in the
** file with it. When the trace ends, for whatever reason, the file is stopped
** and the others go on in memory; when its losses are final, the file is
** closed.
**
** A forked child lets go of the file, which is its parent's, and makes a file
** of its own with its first event: a child that only runs another program
** leaves none.
*/
#ifndef TG_TRACEFILE_H
#define TG_TRACEFILE_H

#include "state/session.h"

/* The stream goes onto a file as the trace's plan says, from its next chunk on;
   false with errno. */
bool tg_tracefile_begin (tg_Session *s, tg_Trace *t);

/* The trace could not be started after all, and its file is gone: TG_ERR_IO
   with errno if that is why, else TG_ERR_MEMORY. */
tg_Status tg_tracefile_undo (tg_Session *s, tg_Trace *t);

/* An active trace has its place in the stream: it is noted on the file. */
void tg_tracefile_started (tg_Session *s, tg_Trace *t);

/* A trace has begun anew: the same. */
void tg_tracefile_moved (const tg_Session *s, const tg_Trace *t);

/* A trace has ended: the same; if it is the one with the file, that stops. */
void tg_tracefile_ended (tg_Session *s, tg_Trace *t);

/* The losses of a trace are final. */
void tg_tracefile_closed (tg_Trace *t);

/* In a forked child. */
void tg_tracefile_forked (tg_Session *s);

/* With the child's first event: the session's orphan gets a file of its own.
   TG_END_NOT, or why it has none and ends. */
tg_End tg_tracefile_again (tg_Session *s, tg_Trace *t);

/* Why a trace ends whose file takes no more: it is as large as it may be, or
   could not grow. */
tg_End tg_tracefile_end (const tg_Trace *t);

/* Forgets what a trace wanted to be recorded on. NULL is fine. */
void tg_tracefile_free_plan (tg_FilePlan *plan);

#endif
