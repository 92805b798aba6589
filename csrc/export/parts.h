/*
** parts.h - an array of a document, made in parts by several threads.
**
** What is put aside while packets come, samples and markers, is made text when
** all of it is there. A part of that can be made by itself, on any thread; the
** parts are written in order (readahead.h).
*/
#ifndef TG_PARTS_H
#define TG_PARTS_H

#include "export/readahead.h"
#include "text/outfile.h"
#include "text/spool.h"

typedef struct tg_Parts {
  uint64_t count;
  tg_BatchWork *work;     /* makes 'text' of the batch: the items of the part
                             with its number, each after a comma; on any thread,
                             and says by 'text' that memory was refused */
  bool (*take) (void *ud, tg_Batch *b); /* is given each batch in order before
                             its text is written; false ends it all. NULL: there
                             is nothing to take */
  void *ud;               /* of both */
} tg_Parts;

/* Writes the array, its brackets included. False if anything has failed. */
bool tg_parts_write (const tg_Parts *p, tg_OutFile *out);

/* Columns that were put aside are made text so many pieces at a time. */
uint64_t tg_parts_count (const tg_Column *c);

/* The pieces of a part: calls 'use' with the bytes of each, which are there
   until it returns. False if they cannot be read. */
typedef void tg_PieceUse (void *ud, tg_Slice bytes, tg_Batch *b);
bool tg_parts_read (tg_Spool *s, const tg_Column *c, tg_Batch *b,
                    tg_PieceUse *use, void *ud);

/* The output takes the text as it is, and leaves the batch memory of its own:
   nothing is copied. */
bool tg_parts_hand_over (tg_OutFile *out, tg_Batch *b);

#endif
