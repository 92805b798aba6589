/*
** feedtraces.h - the traces of a feed, read as one: the union of what they ask
** for, and one reader that has one sequence of packets from the first of them
** to the last.
**
** Plain data in the feed; zeroed memory is none. Traces are borrowed: code that
** frees a trace takes it out before. Without memory nothing has changed.
*/
#ifndef TG_FEEDTRACES_H
#define TG_FEEDTRACES_H

#include "reader/reader.h"
#include "state/session.h"

typedef struct tg_FeedTraces {
  tg_Trace **list;              /* owns the array; by time of start */
  uint32_t count, capacity;
  tg_Selection selection;       /* of all of them */
  tg_Reader *reader;            /* owns; NULL while there are none */
  bool busy;                    /* a packet of the reader is used... */
  bool late;                 /* ...and 'reader' and 'selection' wait for that */
} tg_FeedTraces;

void tg_feedtraces_free (tg_FeedTraces *f);

bool tg_feedtraces_has (const tg_FeedTraces *f, const tg_Trace *t);

/* The most recent one of that name, or of all for NULL; NULL: none. */
tg_Trace *tg_feedtraces_find (const tg_FeedTraces *f, const char *name);

/* What a trace collects for the client: of one that the program has started no
   markers. */
uint32_t tg_feedtraces_types (const tg_Trace *t);

/* How far they have come in the stream. */
tg_Pos tg_feedtraces_end (const tg_FeedTraces *f);

/* The feed has one trace more. False without memory. */
bool tg_feedtraces_join (tg_FeedTraces *f, tg_Trace *t);

/* The feed has this trace no more; false if it had not. The reader goes on as
   it did, until tg_feedtraces_rework: another trace may come in its place. */
bool tg_feedtraces_take (tg_FeedTraces *f, tg_Trace *t);

/* After a trace was taken: what is read from here on. Not while a packet is
   being written: a finalizer may have come here, and whoever writes holds the
   reader; he does it then, if it is 'late'. False without memory. */
bool tg_feedtraces_rework (tg_FeedTraces *f);

/* Both, if it is there. */
void tg_feedtraces_part (tg_FeedTraces *f, tg_Trace *t);

#endif
