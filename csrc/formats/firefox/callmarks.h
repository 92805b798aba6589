/*
** callmarks.h - calls of a document as markers: the longest of them, each with
** its arguments and results.
**
** Which calls are the longest is known at the end only. So a call's arguments
** are copied when it opens; when it closes and is long enough so far
** (longestcalls.h), it is put aside as bytes (markerbytes.h) in a column of its
** track, and tg_callmarks_each leaves out those that later ones have pushed
** out.
**
** Plain C, one thread. Memory: open calls with their arguments; what is put
** aside goes through a spool.
*/
#ifndef TG_CALLMARKS_H
#define TG_CALLMARKS_H

#include "export/export.h"
#include "formats/firefox/longestcalls.h"
#include "formats/firefox/markerbytes.h"
#include "formats/firefox/stacktables.h"
#include "text/spool.h"

/* The markers of one track; zeroed memory has none. */
typedef struct tg_TrackMarks {
  tg_Column column;           /* owns; each marker with its values behind it */
  uint64_t end_ns;            /* of the latest of them */
  tg_Moment moment;           /* where the latest call begins or ends */
  bool begins;                /* it is a beginning */
} tg_TrackMarks;

/* A call that is open in the document. */
typedef struct tg_OpenCall {
  tg_Moment opened;
  size_t at, size, put_in;    /* its arguments in 'arguments' */
  bool has;                   /* there are any */
  bool resumed;
} tg_OpenCall;

typedef struct tg_CallMarks {
  tg_LongestCalls longest;    /* owns */
  /* private part */
  tg_Export *x;               /* borrows */
  tg_Spool *spool;            /* borrows */
  tg_OpenCall *calls;         /* owns; by level */
  uint32_t ccalls;
  tg_Buf arguments;           /* owns; values of open calls, innermost last */
  size_t put_in;              /* in it, as in tg_values_copy */
  tg_Buf raw, text, members;  /* own; of the marker that is read back */
  size_t texts;               /* bytes of values in markers so far */
} tg_CallMarks;

/* One marker. 'text' is further members of a JSON object, each after a
   comma. */
typedef struct tg_Mark {
  tg_Moment from, to;
  uint32_t func;              /* TG_STACK_NONE: it is not of a call */
  tg_Slice text;
} tg_Mark;

/* For one marker; false stops. */
typedef bool tg_MarkUse (void *ud, const tg_Mark *m);

/* False without memory; to be freed all the same. */
bool tg_callmarks_init (tg_CallMarks *m, tg_Export *x, tg_Spool *spool);
void tg_callmarks_free (tg_CallMarks *m);
void tg_callmarks_free_track (tg_TrackMarks *tm);

/* The packet that tg_export_next gave last opens a call, or closes one, on the
   track of these markers. False without memory. */
bool tg_callmarks_open (tg_CallMarks *m, tg_TrackMarks *tm, const tg_Packet *p);
bool tg_callmarks_close (tg_CallMarks *m, tg_TrackMarks *tm,
                         const tg_Packet *p);

/* Calls 'use' for each marker of a track that is among the longest; stops and
   returns false if it does, without memory, or if the spool fails. Funcs are
   those of 'stacks'. */
bool tg_callmarks_each (tg_CallMarks *m, const tg_TrackMarks *tm,
                        tg_StackTables *stacks, tg_MarkUse *use, void *ud);

#endif
