/*
** counts.h - how often functions were called and their lines reached.
**
** A function is known by its source and its first and last line: what is loaded
** twice is counted once, and functions that share both lines have one count.
** Used on the thread that runs the program, in the hook; an entry stays where
** it is until all are freed.
*/
#ifndef TG_COUNTS_H
#define TG_COUNTS_H

#include "stream/texts.h"

typedef struct tg_FunctionCounts {
  int first, last;        /* lines; 0 of a main chunk */
  uint64_t calls;
  uint64_t *lines;        /* owns: of line first + k */
  uint32_t nlines;
} tg_FunctionCounts;

typedef struct tg_SourceCounts {
  bool own;               /* of tracegrip's: not to be told */
  tg_FunctionCounts **functions;  /* owns */
  uint32_t nfunctions, capacity;
} tg_SourceCounts;

/* Zeroed memory is empty. */
typedef struct tg_Counts {
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
   memory. */
tg_FunctionCounts *tg_counts_function (tg_SourceCounts *s, int first,
                                       int last);

/* Makes room for a line that is beyond those counted so far; false without
   memory. */
bool tg_counts_reach (tg_FunctionCounts *f, uint32_t line);

/* All is 0 again, and known as before. */
void tg_counts_reset (tg_Counts *c);

void tg_counts_free (tg_Counts *c);

/* A line of the function has been reached. Without memory it is not counted. */
TG_INLINE void tg_counts_line (tg_FunctionCounts *f, int line) {
  uint32_t at = (uint32_t)(line - f->first);
  if (tg_likely(at < f->nlines) || tg_counts_reach(f, at))
    f->lines[at]++;
}

#endif
