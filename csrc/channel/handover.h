/*
** handover.h - a trace that the traced thread records and another thread reads,
** once it is over for that one.
**
** The server asks for one (channel.h: KEEP) and gets its part of the stream
** when it asks again, at once, whether or not the program is awake:
**
**     asked ──> begun ──> ended        by a limit of its own
**       └─────────┴─────────┴──> taken by who asked, or given up
**
** What is taken ends where it ended, or, if it goes on, at what is recorded at
** this moment; the traced thread hears later that nobody wants more. So nobody
** waits for anybody, and no notice can be lost.
**
** Owners. A tg_Handover is pinned by who asked for it and, from the KEEP on, by
** the command, then by the endpoint, until the trace is over. The part in it
** owns a cursor at the trace's beginning, which keeps all of it there
** (store.h), and pins the stream; who takes the part owns both. All of it
** changes under the mutex of the channel that both sides have; the store's is
** taken inside that one.
*/
#ifndef TG_HANDOVER_H
#define TG_HANDOVER_H

#include <stdatomic.h>

#include "channel/channel.h"
#include "options/endreason.h"
#include "stream/stream.h"

/* The excerpt of a stream that is a trace's. */
typedef struct tg_Excerpt {
  tg_Stream *stream;        /* pins; NULL: none */
  tg_Cursor hold;           /* at its beginning */
  tg_Pos start, stop;
  uint64_t packets_start;   /* the session's count there */
  uint64_t ticks_start, ticks_end;
  tg_End end;               /* TG_END_NOT: then there is no 'stop' yet */
  uint64_t lost[TG_NLOSSES];
} tg_Excerpt;

void tg_excerpt_free (tg_Excerpt *p);             /* zeroed memory is fine */

typedef struct tg_Handover tg_Handover;

tg_Handover *tg_handover_new (void);        /* NULL without memory */
tg_Handover *tg_handover_pin (tg_Handover *k); /* returns 'k' */
void tg_handover_unpin (tg_Handover *k);    /* NULL is fine */

/* ---- the traced thread ---- */

/* It begins: 'from' moves there. False if nobody wants it any more. */
bool tg_handover_begin (tg_Channel *l, tg_Handover *k, tg_Excerpt *from);

/* It has ended by itself: what 'facts' says of stop and end. */
void tg_handover_end (tg_Channel *l, tg_Handover *k, const tg_Excerpt *facts);

/* ---- who has asked for it ---- */

/* Its part so far moves to 'to'. False: it has not begun, and never will. */
bool tg_handover_take (tg_Channel *l, tg_Handover *k, tg_Excerpt *to);

#endif
