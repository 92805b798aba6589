/*
** entrywriter.c - see entrywriter.h.
**
** Called by its file writer, also from inside the hook: a function is defined
** there when it is met for the first time. Once an entry could not be written
** the file writer asks for no more: events may name functions only that are
** there.
*/
#include "recording/entrywriter.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "recording/fileformat.h"
#include "recording/mappedfile.h"
#include "text/fileio.h"

#define SOURCE_MAX ((size_t)16 << 20)   /* bytes of one text */

void tg_entrywriter_free (tg_EntryWriter *w) {
  tg_intern_free(&w->urls);
  tg_free(w->ends);
  tg_buf_free(&w->scratch);
}

/* A block for an entry that does not fit into the current one; NULL with
   errno. */
static tg_Block *next_block (tg_EntryWriter *w, size_t size) {
  const tg_Block *b = w->current;
  tg_Pos base = b != NULL ? b->base + tg_block_used(b) : 0;
  size_t page = tg_mappedfile_page();
  size_t whole = (sizeof *b + size + page - 1) / page * page;
  size_t usual = tg_fileformat_grown(w->made, w->first, TG_ENTRIES_SIZE);
  if (whole < usual)
    whole = usual;
  if (whole > UINT32_MAX) {     /* 'used' has 32 bits */
    errno = EFBIG;
    return NULL;
  }
  tg_Block *next = w->map(w->ud, whole);
  if (next != NULL) {
    tg_block_begin(next, TG_BLOCK_ENTRIES, whole, base, 0);
    w->made += whole;
  }
  return next;
}

/* Room for an entry of 'size' bytes in the current block, or in a new one. */
static bool entry_room (tg_EntryWriter *w, size_t size) {
  const tg_Block *b = w->current;
  if (b != NULL && b->size - sizeof *b - tg_block_used(b) >= size)
    return true;
  tg_Block *next = next_block(w, size);
  if (next != NULL)
    w->current = next;
  return next != NULL;
}

/* Takes over what is in 'scratch'; where it is now, or NULL with errno. */
static uint8_t *write_entry (tg_EntryWriter *w) {
  tg_Buf *bytes = &w->scratch;
  uint8_t *at = NULL;
  if (bytes->failed)
    errno = ENOMEM;
  else if (entry_room(w, bytes->size)) {
    tg_Block *b = w->current;
    at = b->data + tg_block_used(b);
    tg_assert(at + bytes->size <= (uint8_t *)b + b->size);
    memcpy(at, bytes->data, bytes->size);
    tg_block_commit(b, at + bytes->size);
  }
  tg_buf_clear(bytes);
  return at;
}

bool tg_entrywriter_program (tg_EntryWriter *w, const tg_Program *p) {
  tg_entry_program(&w->scratch, p);
  return write_entry(w) != NULL;
}

/* Not of a stream of which nobody has measured them. */
bool tg_entrywriter_costs (tg_EntryWriter *w, const tg_Costs *c) {
  if (!tg_costs_known(c))
    return true;
  tg_entry_costs(&w->scratch, c);
  return write_entry(w) != NULL;
}

/*
** {==================================================================
** Functions and their sources
** ===================================================================
*/

/* Whether a source is new; then it counts as written. Without memory to know
   that, it is left out: once is enough, and every function of a file asks. */
static bool note_source (tg_EntryWriter *w, const char *url) {
  uint32_t before = w->urls.count;
  return tg_intern_add(&w->urls, url, strlen(url)) == before;
}

/* Whether the text of a file may be what the function was loaded from: a chunk
   can claim to be of any file ("@/etc/passwd"). It is Lua and has its lines. */
static bool is_source (const tg_EntryWriter *w, const tg_Function *f,
                       const tg_Buf *text) {
  uint32_t lines = 1;
  for (size_t i = 0; i < text->size; i++)
    lines += text->data[i] == '\n';
  return text->size > 0 && lines >= f->last_line
         && w->sources(text->data, text->size);
}

/* A chunk's text: the file's, or that of the string if it is known whole. One
   that cannot be had is no failure. */
static bool write_source (tg_EntryWriter *w, const tg_Function *f) {
  tg_Buf text = {0};
  if (f->is_c || f->url == NULL || f->source == NULL
      || !note_source(w, f->url))
    return true;
  if (f->source[0] == '@') {
    if (tg_fileio_text(f->source + 1, SOURCE_MAX, &text)
        && is_source(w, f, &text))
      tg_entry_source(&w->scratch, f->url, text.data, text.size);
  }
  else if (f->source[0] != '=' && f->source_size < TG_SOURCE_MAX)
    tg_entry_source(&w->scratch, f->url, f->source, f->source_size);
  tg_buf_free(&text);
  return w->scratch.size == 0 || write_entry(w) != NULL;
}

/* The source before the first function of it: a file that is cut off after this
   entry has the text of all that it names. False: nothing more may be
   written. */
bool tg_entrywriter_function (tg_EntryWriter *w, tg_FunctionId id,
                              const tg_Function *f) {
  tg_assert(w->scratch.size == 0);
  if (w->sources != NULL && !write_source(w, f))
    return false;
  tg_entry_function(&w->scratch, id, f);
  return write_entry(w) != NULL;
}

/* }================================================================== */

/*
** {==================================================================
** Traces
** ===================================================================
*/

/* Where its end is to be filled in is noted first: without room for that it is
   not written, and '*number' stays 0. That is no failure of the file. */
bool tg_entrywriter_trace (tg_EntryWriter *w, const tg_TraceEntry *t,
                           uint32_t *number) {
  *number = 0;
  if (!tg_grow(&w->ends, &w->cends, w->nends + 1, sizeof *w->ends))
    return true;
  tg_entry_trace(&w->scratch, t);
  uint8_t *at = write_entry(w);
  if (at == NULL)
    return false;
  w->ends[w->nends++] = at + TG_ENTRY_HEAD;
  *number = w->nends;
  return true;
}

/* The three numbers follow the end in an entry. */
void tg_entrywriter_moved (tg_EntryWriter *w, uint32_t number,
                           const tg_TraceEntry *t) {
  uint64_t begin[3] = {t->start, t->ticks, t->packets};
  if (number != 0 && number <= w->nends)
    memcpy(w->ends[number - 1] + sizeof t->end, begin, sizeof begin);
}

/* 'why' comes last, behind a fence: whoever reads the file of a process that
   was killed in between finds a trace that has not ended. */
void tg_entrywriter_ended (tg_EntryWriter *w, uint32_t number,
                           const tg_TraceEnd *end) {
  if (number == 0 || number > w->nends)
    return;
  uint8_t *at = w->ends[number - 1];
  memcpy(at + sizeof end->why, (const uint8_t *)end + sizeof end->why,
         sizeof *end - sizeof end->why);
  atomic_thread_fence(memory_order_release);
  memcpy(at, &end->why, sizeof end->why);
}

/* }================================================================== */

/* How many reasons there are does not change. */
bool tg_entrywriter_misses (tg_EntryWriter *w, const tg_Misses *m) {
  if (w->misses == NULL) {
    tg_entry_misses(&w->scratch, m);
    uint8_t *at = write_entry(w);
    w->misses = (at != NULL) ? at + TG_ENTRY_HEAD : NULL;
    return at != NULL;
  }
  memcpy(w->misses, &m->retried, sizeof m->retried);
  memcpy(w->misses + 12, m->counts, m->n * sizeof *m->counts);
  return true;
}
