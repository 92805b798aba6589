/*
** counts.h - how often functions were called and their lines reached.
**
** A function is known by its source and its first and last line: what is loaded
** twice is counted once, and functions that share both lines have one count.
** What finds them is here, in the process's memory; the numbers themselves lie
** in the ledger, which may be a file.
**
** Used on the thread that runs the program, in the hook; an entry stays where
** it is until all are freed.
*/
#ifndef TG_COUNTS_H
#define TG_COUNTS_H

#include "counts/ledger.h"
#include "stream/texts.h"

typedef struct tg_FunctionCounts {
  int first, last;        /* lines; 0 of a main chunk */
  tg_LedgerFunction *found;       /* borrows: the first lines, and calls */
  uint32_t nlines;        /* of them */
  uint32_t number;        /* in the ledger */
  uint64_t **pages;       /* owns: of lines beyond; each borrows the counts of
                             TG_LEDGER_LINES, from line first + k *
                             TG_LEDGER_LINES; NULL: none */
  uint32_t npages;
} tg_FunctionCounts;

typedef struct tg_SourceCounts {
  bool own;               /* of tracegrip's: not to be told */
  uint32_t number;        /* in the ledger; 0: it is not there */
  tg_FunctionCounts **functions;  /* owns */
  uint32_t nfunctions, capacity;
} tg_SourceCounts;

/* Zeroed memory is empty. */
typedef struct tg_Counts {
  tg_Ledger ledger;               /* owns */
  tg_Texts texts;                 /* owns: sources as lua_Debug has them */
  tg_SourceCounts *sources;       /* owns; of text 'id' at id - 1 */
  uint32_t nsources, capacity;
} tg_Counts;

/* The source with that text; NULL: it is new. */
tg_SourceCounts *tg_counts_find (tg_Counts *c, const char *text, size_t size);

/* Adds a source; NULL without memory. Pointers to others are old then. */
tg_SourceCounts *tg_counts_add (tg_Counts *c, const char *text, size_t size,
                                bool own);

/* The function between those lines, made if there is none; NULL without
   memory, and of our own. */
tg_FunctionCounts *tg_counts_function (tg_Counts *c, tg_SourceCounts *s,
                                       int first, int last);

/* Where a line is counted that is not among the first, by its distance from the
   function's first; NULL without memory. One before that is as far away as can
   be. */
uint64_t *tg_counts_beyond (tg_Counts *c, tg_FunctionCounts *f, uint32_t at);

/* How often that line was reached. */
uint64_t tg_counts_of (const tg_FunctionCounts *f, uint32_t at);

/* The distance beyond which no line was reached. */
uint32_t tg_counts_extent (const tg_FunctionCounts *f);

/* All is 0 again, and known as before. */
void tg_counts_reset (tg_Counts *c);

/* Nothing is known any more; the ledger's directory stays, and so do its
   files. */
void tg_counts_renew (tg_Counts *c);

void tg_counts_free (tg_Counts *c);

/* A line of the function has been reached. Without memory it is not counted. */
TG_INLINE void tg_counts_line (tg_Counts *c, tg_FunctionCounts *f, int line) {
  uint32_t at = (uint32_t)line - (uint32_t)f->first;
  uint64_t *count = tg_likely(at < f->nlines) ? &f->found->lines[at]
                                              : tg_counts_beyond(c, f, at);
  if (tg_likely(count != NULL))
    (*count)++;
}

#endif
