/*
** nativeallocations.c - see nativeallocations.h. What fails is in the spool
** while packets are read, and in the document's 'ok' while it is written.
*/
#include "formats/firefox/nativeallocations.h"

#include <inttypes.h>
#include <string.h>

/* As it is put aside. */
typedef struct Row {
  uint64_t ns;
  int64_t bytes;
  uint32_t stack;
} Row;

static void put (tg_Spool *spool, tg_Column *c, const Row *row) {
  tg_buf_add(&c->text, row, sizeof *row);
  c->values++;
  tg_column_turn(spool, c);
}

void tg_nativeallocations_put (tg_Spool *spool, tg_Column *column,
                               const tg_Allocations *a, uint64_t ns,
                               uint32_t stack) {
  Row row = {.ns = ns, .stack = stack};
  if (a->allocated > 0) {
    row.bytes = (int64_t)a->allocated;
    put(spool, column, &row);
  }
  if (a->freed > 0) {
    row.bytes = -(int64_t)a->freed;
    put(spool, column, &row);
  }
}

static void put_time (tg_Document *w, const Row *row) {
  tg_document_ms(w, row->ns);
}

static void put_weight (tg_Document *w, const Row *row) {
  tg_buf_addfmt(w->out, "%" PRId64, row->bytes);
}

static void put_stack (tg_Document *w, const Row *row) {
  tg_document_index(w, row->stack);
}

typedef void Field (tg_Document *w, const Row *row);

/* A column is read back for itself, as those of samples are. Rows are copied
   out of a piece: in the spool they are not aligned. */
static void put_column (tg_Document *w, const tg_Column *column,
                        const char *key, Field *field) {
  tg_Buf piece = {0};
  uint64_t n = 0;
  Row row;
  tg_document_column(w, key, false);
  for (uint32_t i = 0; w->ok && i <= column->count; i++) {
    w->ok = tg_column_read(&w->tracks.spool, column, i, &piece);
    for (size_t at = 0; w->ok && at < piece.size; at += sizeof row) {
      memcpy(&row, piece.data + at, sizeof row);
      tg_document_next(w, n++);
      field(w, &row);
    }
  }
  tg_document_put(w, "]");
  tg_assert(!w->ok || n == column->values);
  tg_buf_free(&piece);
}

/* Without addresses of blocks, by which the viewer would tell what is still in
   use: its "unbalanced" table. */
void tg_nativeallocations_write (tg_Document *w, const tg_Column *column) {
  if (column->values == 0)
    return;
  tg_document_put(w, ",\"nativeAllocations\":{\"weightType\":\"bytes\"");
  put_column(w, column, "time", put_time);
  put_column(w, column, "weight", put_weight);
  put_column(w, column, "stack", put_stack);
  tg_buf_addfmt(w->out, ",\"length\":%" PRIu64 "}", column->values);
}
