/*
** samples.c - see samples.h. Put aside by processed.c while packets come, read
** back by thread.c for each column, on several threads (export/parts.h).
**
** Memory that was refused shows in the column's text and from there in the
** spool; reading back returns false.
*/
#include "formats/firefox/samples.h"

#include <string.h>

#include "export/parts.h"

void tg_samples_put (tg_Spool *spool, tg_Track *track, const tg_Sample *s) {
  tg_Column *c = &track->samples;
  tg_buf_add(&c->text, s, sizeof *s);
  c->values++;
  tg_column_turn(spool, c);
}

/* What the work of a column needs. */
typedef struct Writing {
  tg_Spool *spool;
  const tg_Column *column;
  tg_SampleField *field;
} Writing;

/* Pieces are copied out of: in the spool they stand next to what is not
   aligned. */
static void put_piece (void *ud, tg_Slice bytes, tg_Batch *b) {
  const Writing *w = ud;
  tg_Sample s;
  size_t n = bytes.size / sizeof s;
  tg_assert(bytes.size % sizeof s == 0);    /* a sample is in one piece */
  if (!tg_buf_reserve(&b->text, n * (TG_DIGITS + 1)))
    return;
  char *p = b->text.data + b->text.size;
  for (size_t i = 0; i < n; i++) {
    memcpy(&s, bytes.data + i * sizeof s, sizeof s);
    *p++ = ',';
    p = w->field(p, &s);
  }
  b->text.size = (size_t)(p - b->text.data);
}

static void put_part (void *ud, tg_Batch *b) {
  const Writing *w = ud;
  if (!tg_parts_read(w->spool, w->column, b, put_piece, ud))
    b->text.failed = true;
}

bool tg_samples_write (tg_Spool *spool, const tg_Track *track,
                       tg_SampleField *field, tg_OutFile *out) {
  Writing w = {spool, &track->samples, field};
  tg_Parts parts = {
    .count = tg_parts_count(&track->samples), .work = put_part, .ud = &w
  };
  return tg_parts_write(&parts, out);
}
