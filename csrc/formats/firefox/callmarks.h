/*
** callmarks.h - calls of a document as markers: the longest of them, each with
** its arguments and results.
**
** Which calls are the longest is known at the end only. So a call's arguments
** are copied when it opens; when it closes and is long enough so far
** (longestcalls.h), it is put aside in a column of its track, its values behind
** it, arguments before results. The reader of the column (marktext.h) leaves
** out calls that longer ones have pushed out.
**
** Plain C, one thread. Memory: open calls with their arguments; what is put
** aside goes through a spool.
*/
#ifndef TG_CALLMARKS_H
#define TG_CALLMARKS_H

#include "export/export.h"
#include "formats/firefox/longestcalls.h"
#include "text/spool.h"

/*
** Where a marker begins or ends. What falls together, calls that are entered
** again when a coroutine goes on, say, is told apart by thousandths of a
** nanosecond: viewers take the marker that begins first for the outer one.
*/
typedef struct tg_Moment {
  uint64_t ns;
  uint16_t part;              /* 0 to 999 */
} tg_Moment;

#define TG_ABSENT UINT32_MAX

/* A call that has ended, as it is put aside. */
typedef struct tg_CallMark {
  uint64_t from_ns, to_ns;
  uint16_t from_part, to_part;
  uint8_t why;                /* a tg_Why */
  bool tail, resumed, unfinished;
  uint32_t rank;              /* among the longest */
  tg_FunctionId function;
  uint32_t arguments;         /* bytes; TG_ABSENT: they are not known */
  uint32_t results;           /* the same, of what 'why' says */
  tg_FunctionId caller;       /* 0: not known... */
  uint32_t line;              /* ...of this line */
} tg_CallMark;

/* The markers of one track; zeroed memory has none. */
typedef struct tg_TrackMarks {
  tg_Column column;           /* owns; each marker with its values behind it */
  tg_Moment moment;           /* where the latest call begins or ends */
  bool begins;                /* it is a beginning */
} tg_TrackMarks;

#define TG_MARKS_TRACKS 2u     /* that a call has markers on, at most */

/* A call that is open in the document. */
typedef struct tg_OpenCall {
  tg_Moment opened[TG_MARKS_TRACKS];
  size_t at, size, put_in;    /* its arguments in 'arguments' */
  bool has;                   /* there are any */
  bool resumed;
  tg_FunctionId caller;
  uint32_t line;
} tg_OpenCall;

typedef struct tg_CallMarks {
  tg_LongestCalls longest;    /* owns */
  /* private part */
  tg_Export *x;               /* borrows */
  tg_Spool *spool;            /* borrows */
  tg_OpenCall *calls;         /* owns; by level */
  uint32_t ccalls;
  tg_Buf arguments;           /* owns; values of open calls, innermost last */
  size_t put_in;              /* in it, as in tg_valuecopy */
} tg_CallMarks;

/* False without memory; to be freed all the same. */
bool tg_callmarks_init (tg_CallMarks *m, tg_Export *x, tg_Spool *spool);
void tg_callmarks_free (tg_CallMarks *m);
void tg_callmarks_free_track (tg_TrackMarks *tm);

/* The packet that tg_export_next gave last opens a call, or closes one, on the
   tracks of these markers. False without memory. */
bool tg_callmarks_open (tg_CallMarks *m, tg_TrackMarks *const *tracks,
                        uint32_t n, const tg_Packet *p);
bool tg_callmarks_close (tg_CallMarks *m, tg_TrackMarks *const *tracks,
                         uint32_t n, const tg_Packet *p);

#endif
