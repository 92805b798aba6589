/*
** traceinfo.h - facts of a trace, at any time of its life: where it ends, what
** it lacks, and a reader of what it has.
*/
#ifndef TG_TRACEINFO_H
#define TG_TRACEINFO_H

#include "state/session.h"

/* Where a trace's part of the stream ends, or has come to. */
tg_Pos tg_traceinfo_stop_pos (const tg_Trace *t);

/* Losses of a trace so far. */
void tg_traceinfo_losses (const tg_Trace *t, uint64_t lost[TG_NLOSSES]);

/* A reader of a trace's packets as its own options show them; NULL without
   memory. */
tg_Reader *tg_traceinfo_reader (const tg_Trace *t);

/* Visible frames of the running chain that were open when 't' started. */
uint32_t tg_traceinfo_older_frames (const tg_Session *s, const tg_Trace *t);

#endif
