/*
** document.h - a document of the Firefox Profiler's processed format as it is
** being written, and the pieces that it is written in.
**
** A table of the format is an object of columns, one array for each field of
** its rows. Here it is a list of tg_DocumentColumn, so that a table reads as
** the format's own description does.
**
** Everything goes to the export's output. What fails is kept in 'ok': then
** nothing more is written that matters, and the exporter finds out why.
*/
#ifndef TG_DOCUMENT_H
#define TG_DOCUMENT_H

#include "formats/firefox/tracedvalues.h"
#include "formats/firefox/tracks.h"

typedef struct tg_Document {
  tg_Export *x;
  tg_Buf *out;            /* borrows: the document's text */
  tg_Tracks tracks;       /* owns, as the following */
  tg_StackTables stacks;
  tg_TracedValues preview;
  tg_Intern strings;      /* the document's */
  tg_Intern urls;         /* of sources */
  uint32_t *names, *places; /* strings, by func; TG_INTMAP_NONE: no string */
  uint64_t value_bytes;   /* of arguments, of all tracks */
  bool ok;                /* writing goes on */
} tg_Document;

/* ---- words ---- */

TG_INLINE void tg_document_put (tg_Document *w, const char *s) {
  tg_buf_addstr(w->out, s);
}

void tg_document_ms (tg_Document *w, uint64_t ns);
void tg_document_index (tg_Document *w, uint32_t i);  /* TG_INTMAP_NONE: null */

/* Text goes off when there is enough of it; false if anything has failed. */
bool tg_document_turn (tg_Document *w);

/* A comma, before all but the first of a list. */
void tg_document_next (tg_Document *w, uint64_t i);

/* Begins a column; 'first' if it is the first member of its object. */
void tg_document_column (tg_Document *w, const char *key, bool first);

/* Writes what a column has in a row of 'table'. */
typedef void tg_DocumentCell (tg_Document *w, const void *table, uint32_t row);

typedef struct tg_DocumentColumn {
  const char *key;
  const char *same;       /* what it has in all rows; NULL: what 'put' writes */
  tg_DocumentCell *put;
} tg_DocumentColumn;

/* The columns up to one without a key, all of so many rows. */
void tg_document_columns (tg_Document *w, const tg_DocumentColumn *columns,
                          const void *table, uint32_t rows, bool first);

/* The number of a string of the document. */
uint32_t tg_document_string (tg_Document *w, const char *s, size_t size);
uint32_t tg_document_word (tg_Document *w, const char *s);

/* The definition of a func, NULL if there is none. */
const tg_Function *tg_document_function (const tg_Document *w, uint32_t func);

/* ---- parts ---- */

/* What is shared by the threads, with a comma; finds 'names' and
   'places' first. */
void tg_document_shared (tg_Document *w);

/* The thread of a track. */
void tg_document_thread (tg_Document *w, uint32_t i);

#endif
