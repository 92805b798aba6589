/*
** parts.c - see parts.h. Called by formats that put columns aside, on the
** thread that exports; the work runs on others too, whose threads are gone when
** tg_parts_write returns.
**
** What fails on another thread shows in the batch's text, and everything ends
** when its turn comes: errors are told in the order of the document.
*/
#include "export/parts.h"

#define PIECES 32u        /* of a part: some 10,000 samples, 100 KB of text */

/* What the output has collected so far goes first, so that its own buffer is
   empty: then the two buffers can be exchanged, and the batch goes on with the
   memory that the output had. */
bool tg_parts_hand_over (tg_OutFile *out, tg_Batch *b) {
  if (!tg_outfile_flush(out))
    return false;
  tg_assert(out->text.size == 0);
  tg_Buf text = b->text;
  b->text = out->text;
  out->text = text;
  return tg_outfile_flush(out);
}

/* The comma before the first item of all becomes the array's bracket. */
static bool put_part (tg_OutFile *out, tg_Batch *b, bool *begun) {
  if (b->text.size == 0)
    return true;
  tg_assert(b->text.data[0] == ',');
  if (!*begun)
    b->text.data[0] = '[';
  *begun = true;
  return tg_parts_hand_over(out, b);
}

bool tg_parts_write (const tg_Parts *p, tg_OutFile *out) {
  tg_ReadAhead ahead;
  tg_Batch *b;
  bool ok = true, begun = false;
  tg_readahead_parts(&ahead, p->count, p->work, p->ud);
  while (ok && (b = tg_readahead_next(&ahead)) != NULL)
    ok = !b->text.failed && (p->take == NULL || p->take(p->ud, b))
         && put_part(out, b, &begun);
  tg_readahead_end(&ahead);
  tg_buf_addstr(&out->text, begun ? "]" : "[]");
  return ok;
}

uint64_t tg_parts_count (const tg_Column *c) {
  return c->count / PIECES + 1;       /* the last piece is number 'count' */
}

/* Called on any thread: the spool's file is read by position (tg_column_look),
   and the room that a piece is read into is this call's own. */
bool tg_parts_read (tg_Spool *s, const tg_Column *c, tg_Batch *b,
                    tg_PieceUse *use, void *ud) {
  tg_Buf room = {0};
  tg_Slice bytes;
  uint64_t first = b->number * PIECES, end = first + PIECES;
  bool ok = true;
  for (uint64_t i = first; ok && i < end && i <= c->count; i++) {
    ok = tg_column_look(s, c, (uint32_t)i, &room, &bytes);
    if (ok && bytes.size > 0)
      use(ud, bytes, b);
  }
  tg_buf_free(&room);
  return ok;
}
