/*
** entrywriter.h - entries (entries.h) on their way into blocks of a file.
**
** Functions are written when they are defined, with the text of their source if
** that is asked for; traces when they begin, and their end in place when it is
** known. Each entry is whole before one store makes it visible, so a process
** that is killed leaves no half of one.
**
** Plain C, on the traced thread. Owned by a file writer, which maps the blocks.
*/
#ifndef TG_ENTRYWRITER_H
#define TG_ENTRYWRITER_H

#include "base/intern.h"
#include "recording/entries.h"
#include "stream/block.h"

typedef struct tg_EntryWriter {
  tg_Block *current;      /* borrows; NULL before the first */
  size_t made;            /* bytes of blocks so far */
  uint8_t **ends;         /* owns; by trace number, where its entry begins */
  uint32_t nends, cends;
  uint8_t *misses;        /* borrows; where these begin; NULL: not written */
  size_t first;           /* bytes of the first block, if an entry needs no
                             more; 0: TG_ENTRIES_SIZE, as all others have */
  tg_SourceTest *sources; /* with the text of sources that pass; NULL: none */
  tg_Intern urls;         /* owns; of the sources that are there */
  tg_Buf scratch;         /* owns; the entry that is being made */
  /* Maps a block of 'size' bytes, zeros, which stays as long as the file; NULL
     with errno. */
  tg_Block *(*map) (void *ud, size_t size);
  void *ud;               /* borrows */
} tg_EntryWriter;

/* Zeroed but for 'first', 'sources', 'map' and 'ud' it has written nothing. */
void tg_entrywriter_free (tg_EntryWriter *w);

/* Each of these is false with errno if the entry could not be written: ENOMEM,
   or why there was no block. */
bool tg_entrywriter_program (tg_EntryWriter *w, const tg_Program *p);
bool tg_entrywriter_costs (tg_EntryWriter *w, const tg_Costs *c);
bool tg_entrywriter_function (tg_EntryWriter *w, tg_FunctionId id,
                              const tg_Function *f);

/* '*number' is that of the trace, for the next two; 0 if there was no memory to
   remember where it is: then it is not written. */
bool tg_entrywriter_trace (tg_EntryWriter *w, const tg_TraceEntry *t,
                           uint32_t *number);

/* A trace begins anew, or has ended so; a number that is none is fine. */
void tg_entrywriter_moved (tg_EntryWriter *w, uint32_t number,
                           const tg_TraceEntry *t);
void tg_entrywriter_ended (tg_EntryWriter *w, uint32_t number,
                           const tg_TraceEnd *end);

/* What samples of another process lack: written the first time, and in the same
   place from then on. */
bool tg_entrywriter_misses (tg_EntryWriter *w, const tg_Misses *m);

#endif
