/*
** stream.h - one tracing state, from idle to idle: events, definitions, time.
**
** Shared by everyone who writes or reads it, freed by the last one to let go.
*/
#ifndef TG_STREAM_H
#define TG_STREAM_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/clock.h"
#include "stream/costs.h"
#include "stream/functions.h"
#include "stream/lacks.h"
#include "stream/sources.h"
#include "stream/store.h"
#include "tick/outlook.h"

typedef struct tg_Stream {
  _Atomic uint32_t refs;
  tg_Clock clock;
  tg_Costs costs;           /* of its events */
  uint64_t wall_ns;         /* time 0 since 1970 */
  uint32_t pid;             /* whose it is, or was */
  char *directory;          /* owns; in which the program was at time 0; NULL:
                               not known */
  tg_Functions *functions;  /* owns */
  tg_Sources *sources;      /* owns; a recording's; NULL: it has none */
  tg_Store store;
  tg_Lacks lacks;           /* what else was lost, beside its events */
  tg_Ticking ticking;       /* of its samples */
  tg_Outlook outlook;       /* of the thread that takes them */
  tg_Ticking *noted;        /* borrows; where its file has that, as long as it
                               is on one; NULL: nowhere. For the thread that
                               ticks */
  struct tg_Stream *next;   /* list of all streams of the process */
} tg_Stream;

tg_Stream *tg_stream_new (void);              /* NULL without memory */
tg_Stream *tg_stream_pin (tg_Stream *s);      /* returns 's' */
void tg_stream_unpin (tg_Stream *s);          /* NULL is fine */

/* The figures of 'ticking' have changed: they are noted in the file. On the
   thread that ticks, also in a handler. */
void tg_stream_note_ticking (tg_Stream *s);

/* The mutexes of all streams, around a fork or a clone. */
void tg_stream_fork (tg_AtFork side);

/* The text of a source that its functions are from, as tg_sources_text. For an
   export, which calls it through a pointer: 'stream' is a tg_Stream. */
bool tg_stream_source (void *stream, const char *url, tg_Buf *text);

#endif
