/*
** marktext.h - the markers of a track, read back and written.
**
** What a document has of a marker is its own business: an object in a column,
** or a row. Beside that, markers may be wanted once more without their text,
** for further columns.
**
** The text is made by several threads (export/parts.h), so whoever makes it
** changes nothing. Memory: that of the parts, and of the markers that are
** wanted once more.
*/
#ifndef TG_MARKTEXT_H
#define TG_MARKTEXT_H

#include "formats/firefox/callmarks.h"
#include "formats/firefox/stacktables.h"
#include "text/outfile.h"

/* One marker. 'text' is further members of a JSON object, each after a
   comma. */
typedef struct tg_Mark {
  tg_Moment from, to;
  uint32_t func;              /* or what it is instead of a call (notes.h) */
  bool thrown;                /* an error left the call */
  tg_Slice text;
} tg_Mark;

/* The same without what is only in its text. */
typedef struct tg_MarkPlace {
  uint64_t from_ns, to_ns;
  uint16_t from_part, to_part;
  uint32_t func;
} tg_MarkPlace;

/* Adds what the document has of a marker; on any thread. */
typedef void tg_MarkPut (const void *ud, tg_Buf *out, const tg_Mark *m);

/* What each thread needs of its own. */
typedef struct tg_MarkDesk tg_MarkDesk;

typedef struct tg_MarkText {
  const tg_Export *x;         /* borrows */
  const tg_LongestCalls *longest; /* borrows */
  tg_Spool *spool;            /* borrows */
  tg_MarkDesk *desks;         /* owns; made when they are needed */
  uint64_t texts;             /* bytes of values in markers so far */
} tg_MarkText;

void tg_marktext_init (tg_MarkText *t, const tg_CallMarks *m);
void tg_marktext_free (tg_MarkText *t);

/* The markers of a track: those of its calls that are among the longest, and
   behind them notes, whose text is there. */
typedef struct tg_MarkSource {
  const tg_TrackMarks *calls;
  const tg_StackTables *stacks;   /* with the funcs of all calls */
  const tg_Mark *notes;
  uint32_t nnotes;
} tg_MarkSource;

/* Writes an array of them. If 'list' is not NULL it gets a tg_MarkPlace of
   each. False without memory, or if the spool or 'out' fails. */
bool tg_marktext_write (tg_MarkText *t, const tg_MarkSource *source,
                        tg_MarkPut *put, const void *ud, tg_Buf *list,
                        tg_OutFile *out);

#endif
