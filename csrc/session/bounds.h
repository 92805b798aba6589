/*
** bounds.h - the limits of traces: buffer, ring, maxEvents, duration; and what
** is lost beyond them.
**
** The recorder asks here when its room, a count or a time is used up, never for
** each event.
*/
#ifndef TG_BOUNDS_H
#define TG_BOUNDS_H

#include "state/state.h"

/* The recorder's 'turn': ends the traces that have come to a limit, and makes
   room for the others. */
void tg_bounds_turn (tg_Recorder *r, size_t need, uint64_t now);

/* 't' begins here: a CONTEXT, which it holds unless it is consumed. False
   without memory. */
bool tg_bounds_begin (tg_Session *s, tg_Trace *t, uint64_t now);

/* The same of an active trace: what it has by now is forgotten. Without memory
   it has ended. */
bool tg_bounds_again (tg_Session *s, tg_Trace *t, uint64_t now);

/* 't' records no more, for this reason. */
void tg_bounds_end (tg_Session *s, tg_Trace *t, tg_End why);

/* When the recorder must ask again: by count and time... */
void tg_bounds_set (tg_Session *s);

/* ...and by position, at least 'need' bytes on, which have been granted. */
tg_Pos tg_bounds_next (const tg_Session *s, size_t need);

/* Losses of a trace so far. */
void tg_trace_losses (const tg_Trace *t, uint64_t lost[TG_NLOSSES]);

/* The losses of a trace become final; its tape is closed. Once. */
void tg_bounds_settle (tg_Trace *t);

/* A reader of a trace's packets as its own options show them; NULL without
   memory. */
tg_Reader *tg_trace_reader (const tg_Trace *t);

/* Where a trace's part of the stream ends, or has come to. */
tg_Pos tg_trace_stop_pos (const tg_Trace *t);

#endif
