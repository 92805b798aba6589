/*
** ticknotes.h - how ticks come, noted in the stream for those who read it
** (ticking.h, outlook.h). On the thread that ticks.
*/
#ifndef TG_TICKNOTES_H
#define TG_TICKNOTES_H

#include "stream/stream.h"
#include "tick/ticker.h"

/* Ticks begin, 'hz' times a second; and they are over. Also in a forked child,
   where all figures are those of the parent before: they begin anew. */
void tg_ticknotes_begin (tg_Stream *s, const tg_Ticker *ticker, uint32_t hz);
void tg_ticknotes_end (tg_Stream *s);
void tg_ticknotes_forked (tg_Stream *s);

/* In the handler: a tick has come. Whether it is one that others have kept
   waiting: then there was one just before it. */
bool tg_ticknotes_come (tg_Stream *s, tg_Ticker *ticker, uint64_t used_ns);

/* So many ticks nothing tells of yet: a hook will. */
void tg_ticknotes_waiting (tg_Stream *s, uint64_t ticks);

/* A trace ends: ticks whose signals are blocked now will not be seen. */
void tg_ticknotes_outstanding (tg_Stream *s, tg_Ticker *ticker,
                               uint64_t used_ns);

#endif
