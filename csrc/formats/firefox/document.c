/*
** document.c - see document.h. For processed.c and the files of its parts.
**
** Nothing here returns a failure: 'ok' keeps it, the text goes on being put
** together and is dropped by an output that has failed.
*/
#include "formats/firefox/document.h"

#include <string.h>

#include "export/jsontext.h"

/* A document does not fit into memory: what is there goes off whenever there is
   enough of it. */
bool tg_document_turn (tg_Document *w) {
  if (w->ok && !tg_outfile_turn(w->x->out))
    w->ok = false;
  return w->ok;
}

/* The output is looked at now and then only: a value of a column is a few
   bytes. */
void tg_document_next (tg_Document *w, uint64_t i) {
  if (i > 0)
    tg_buf_addchar(w->out, ',');
  if ((i & 1023) == 1023)
    tg_document_turn(w);
}

void tg_document_ms (tg_Document *w, uint64_t ns) {
  tg_jsontext_time(w->out, ns, 1000000);
}

void tg_document_column (tg_Document *w, const char *key, bool first) {
  tg_buf_addfmt(w->out, "%s\"%s\":[", first ? "" : ",", key);
}

/* Column by column, as the format has it: a table of rows in memory is read
   once for each. A column that is the same in all rows is a word. */
void tg_document_columns (tg_Document *w, const tg_DocumentColumn *columns,
                          const void *table, uint32_t rows, bool first) {
  for (const tg_DocumentColumn *c = columns; c->key != NULL; c++) {
    tg_assert((c->same != NULL) != (c->put != NULL));
    tg_document_column(w, c->key, first && c == columns);
    for (uint32_t i = 0; i < rows; i++) {
      tg_document_next(w, i);
      if (c->same != NULL)
        tg_document_put(w, c->same);
      else
        c->put(w, table, i);
    }
    tg_document_put(w, "]");
  }
}

/* Without memory the number is none of the table's, and the document fails: it
   is written into text that nobody gets. */
uint32_t tg_document_string (tg_Document *w, const char *s, size_t size) {
  uint32_t i = tg_intern_add(&w->strings, s, size);
  if (i == TG_INTMAP_NONE)
    w->ok = false;
  return i;
}

uint32_t tg_document_word (tg_Document *w, const char *s) {
  return tg_document_string(w, s, strlen(s));
}

const tg_Function *tg_document_function (const tg_Document *w, uint32_t func) {
  return tg_functions_find(w->x->stream->functions,
                           w->stacks.funcs[func].function);
}

void tg_document_index (tg_Document *w, uint32_t i) {
  if (i == TG_INTMAP_NONE)
    tg_document_put(w, "null");
  else
    tg_buf_addu64(w->out, i);
}
