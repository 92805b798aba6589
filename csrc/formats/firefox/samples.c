/*
** samples.c - see samples.h. Put aside by processed.c while packets come, read
** back by thread.c for each column, on several threads (export/parts.h).
**
** Memory that was refused shows in the column's text and from there in the
** spool; reading back returns false.
**
** A sample is five numbers, and the document has four columns: they are put
** aside as they are, 32 bytes a sample, and read back once for each column.
** To keep text instead, column by column, would take several times the room.
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
  const tg_StackWeights *weights;
  tg_SampleField *field;
  uint64_t long_ns;
  uint64_t rows[TG_AHEAD_BATCHES];    /* of the parts that are under way... */
  uint64_t all;                       /* ...and of those before */
} Writing;

/* There is room (put_piece): two rows at most for a sample, one number each. */
TG_INLINE char *put_row (const Writing *w, char *p, const tg_Sample *s) {
  *p++ = ',';
  return w->field(p, s, tg_stackweights_of(w->weights, s->whole,
                                           s->length_ns));
}

/* The same stack where the span ends, without a weight. */
static char *put_end (const Writing *w, char *p, const tg_Sample *s) {
  tg_Sample end = {
    .ns = s->ns + s->length_ns, .stack = s->stack, .whole = TG_STACK_NONE,
    .tag = TG_TAG_NONE
  };
  return put_row(w, p, &end);
}

/* Each batch that is under way counts its own, without a lock. */
static uint64_t *rows_of (Writing *w, const tg_Batch *b) {
  return &w->rows[b->number % TG_AHEAD_BATCHES];
}

/* Pieces are copied out of: in the spool they stand next to what is not
   aligned. */
static void put_piece (void *ud, tg_Slice bytes, tg_Batch *b) {
  Writing *w = ud;
  tg_Sample s;
  size_t n = bytes.size / sizeof s;
  tg_assert(bytes.size % sizeof s == 0);    /* a sample is in one piece */
  if (!tg_buf_reserve(&b->text, 2 * n * (TG_DIGITS + 1)))
    return;
  *rows_of(w, b) += n;
  char *p = b->text.data + b->text.size;
  for (size_t i = 0; i < n; i++) {
    memcpy(&s, bytes.data + i * sizeof s, sizeof s);
    p = put_row(w, p, &s);
    if (tg_unlikely(s.length_ns > w->long_ns)) {
      p = put_end(w, p, &s);
      ++*rows_of(w, b);
    }
  }
  b->text.size = (size_t)(p - b->text.data);
  tg_assert(b->text.size <= b->text.capacity);
}

static void put_part (void *ud, tg_Batch *b) {
  Writing *w = ud;
  *rows_of(w, b) = 0;
  if (!tg_parts_read(w->spool, w->column, b, put_piece, ud))
    b->text.failed = true;
}

/* In order, on the thread that writes. */
static bool add_part (void *ud, tg_Batch *b) {
  Writing *w = ud;
  w->all += *rows_of(w, b);
  return true;
}

/* One column of a track's samples. A span that is longer than 'long_ns' has a
   second row at its end; how many rows there are is counted with each column,
   and is the same for all. */
bool tg_samples_write (tg_Tracks *t, const tg_Track *track, uint64_t long_ns,
                       tg_SampleField *field, uint64_t *rows) {
  Writing w = {
    .spool = &t->spool, .column = &track->samples, .weights = &t->weights,
    .field = field, .long_ns = long_ns
  };
  tg_Parts parts = {
    .count = tg_parts_count(&track->samples), .work = put_part,
    .take = add_part, .ud = &w
  };
  bool ok = tg_parts_write(&parts, t->x->out);
  *rows = w.all;
  tg_assert(!ok || w.all >= track->samples.values);
  return ok;
}
