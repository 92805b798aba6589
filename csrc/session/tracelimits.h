/*
** tracelimits.h - the limits of traces: buffer, ring, maxEvents, duration; and
** what is lost beyond them.
**
** The writer asks here when its room, a count or a time is used up, never for
** each event.
*/
#ifndef TG_TRACELIMITS_H
#define TG_TRACELIMITS_H

#include "state/session.h"

/* The writer's 'turn': ends the traces that have come to a limit, and makes
   room for the others. */
void tg_tracelimits_turn (tg_Writer *r, size_t need, uint64_t now);

/* 't' begins here: writes a CONTEXT, which the trace holds unless it is
   consumed. False without memory. */
bool tg_tracelimits_begin (tg_Session *s, tg_Trace *t, uint64_t now);

/* The same of an active trace: what it has by now is forgotten. Without memory
   it has ended. */
bool tg_tracelimits_again (tg_Session *s, tg_Trace *t, uint64_t now);

/* 't' records no more, for this reason. */
void tg_tracelimits_end (tg_Session *s, tg_Trace *t, tg_End why);

/* What a trace that has just begun, and is to be sent, has in the stream is
   kept all the same, up to TG_MAKERS_MOST bytes: a snapshot of the heap tells
   by it who made the objects (peek/memorytrace.h). Then all of it is let go
   of. */
void tg_tracelimits_keep_makers (tg_Trace *t);

#define TG_MAKERS_MOST (UINT64_C(256) << 20)

/* When the writer must ask again: by count and time... */
void tg_tracelimits_set (tg_Session *s);

/* ...and by position, at least 'need' bytes on, which have been granted. */
tg_Pos tg_tracelimits_next (const tg_Session *s, size_t need);

/* The losses of a trace become final; its file is closed. Once. */
void tg_tracelimits_close (tg_Trace *t);

/* The process exits: traces with a file end, and it is closed. */
void tg_tracelimits_finish (tg_Session *s);

#endif
