/*
** counts.c - the lists of what is counted. Asked for once for each prototype
** (coverage.c remembers what was found). Sources are found by their text, of
** which there may be very many; the functions of one are looked through from
** the latest on: files have some hundred. Called in the hook, where nothing may
** fail: what there is no memory for is not counted, which the ledger says.
*/
#include "counts/counts.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

#define LONGEST (UINT32_C(1) << 24)   /* lines of a function */

tg_SourceCounts *tg_counts_find (tg_Counts *c, const char *text, size_t size) {
  tg_TextId id = tg_texts_find(&c->texts, text, size);
  return (id != TG_TEXT_NONE && id <= c->nsources) ? &c->sources[id - 1]
                                                   : NULL;
}

/* The text last: its number is the next one's in the list. */
static tg_SourceCounts *add_source (tg_Counts *c, const char *text,
                                    size_t size) {
  if (!tg_grow(&c->sources, &c->capacity, c->nsources + 1,
               sizeof *c->sources)
      || tg_texts_add(&c->texts, text, size) == TG_TEXT_NONE) {
    tg_ledger_missing(&c->ledger, ENOMEM);
    return NULL;
  }
  tg_SourceCounts *s = &c->sources[c->nsources++];
  tg_assert(c->nsources == c->texts.count);
  return s;
}

tg_SourceCounts *tg_counts_add (tg_Counts *c, const char *text, size_t size,
                                bool own) {
  tg_assert(tg_counts_find(c, text, size) == NULL);
  tg_SourceCounts *s = add_source(c, text, size);
  if (s != NULL)
    *s = (tg_SourceCounts){
      .own = own, .number = own ? 0 : tg_ledger_source(&c->ledger, text, size)
    };
  return s;
}

/* How long a main chunk is nobody says. */
static uint32_t lines_of (int first, int last) {
  int64_t n = (int64_t)last - first + 1;
  return (n > 0 && n < TG_LEDGER_FIRST && last > 0) ? (uint32_t)n
                                                    : TG_LEDGER_FIRST;
}

static tg_FunctionCounts *add_function (tg_Counts *c, tg_SourceCounts *s,
                                        int first, int last) {
  tg_FunctionCounts *f = NULL;
  if (tg_grow(&s->functions, &s->capacity, s->nfunctions + 1,
              sizeof *s->functions))
    f = tg_calloc(1, sizeof *f);
  if (f == NULL) {
    tg_ledger_missing(&c->ledger, ENOMEM);
    return NULL;
  }
  f->first = first;
  f->last = last;
  f->nlines = lines_of(first, last);
  f->found = tg_ledger_function(&c->ledger, s->number, first, last, f->nlines);
  if (f->found == NULL) {
    tg_free(f);
    return NULL;
  }
  f->number = c->ledger.nfunctions;
  s->functions[s->nfunctions++] = f;
  return f;
}

tg_FunctionCounts *tg_counts_function (tg_Counts *c, tg_SourceCounts *s,
                                       int first, int last) {
  if (s->number == 0)
    return NULL;
  for (uint32_t i = s->nfunctions; i-- > 0; ) {
    tg_FunctionCounts *f = s->functions[i];
    if (f->first == first && f->last == last)
      return f;
  }
  return add_function(c, s, first, last);
}

/* The counts of a page of which no line was reached so far. */
static uint64_t *reach (tg_Counts *c, tg_FunctionCounts *f, uint32_t page) {
  if (page >= LONGEST / TG_LEDGER_LINES)
    return NULL;
  if (!tg_grow_zeroed(&f->pages, &f->npages, page + 1, sizeof *f->pages)) {
    tg_ledger_missing(&c->ledger, ENOMEM);
    return NULL;
  }
  return f->pages[page] = tg_ledger_counts(&c->ledger, f->number, page);
}

uint64_t *tg_counts_beyond (tg_Counts *c, tg_FunctionCounts *f, uint32_t at) {
  uint32_t page = at / TG_LEDGER_LINES;
  uint64_t *counts = (page < f->npages) ? f->pages[page] : NULL;
  if (tg_unlikely(counts == NULL))
    counts = reach(c, f, page);
  return (counts != NULL) ? &counts[at % TG_LEDGER_LINES] : NULL;
}

uint64_t tg_counts_of (const tg_FunctionCounts *f, uint32_t at) {
  uint32_t page = at / TG_LEDGER_LINES;
  if (at < f->nlines)
    return f->found->lines[at];
  return (page < f->npages && f->pages[page] != NULL)
         ? f->pages[page][at % TG_LEDGER_LINES] : 0;
}

uint32_t tg_counts_extent (const tg_FunctionCounts *f) {
  uint32_t beyond = f->npages * TG_LEDGER_LINES;
  return (f->nlines > beyond) ? f->nlines : beyond;
}

static void reset_function (tg_FunctionCounts *f) {
  f->found->calls = 0;
  memset(f->found->lines, 0, f->nlines * sizeof *f->found->lines);
  for (uint32_t page = 0; page < f->npages; page++) {
    if (f->pages[page] != NULL)
      memset(f->pages[page], 0, TG_LEDGER_LINES * sizeof *f->pages[page]);
  }
}

void tg_counts_reset (tg_Counts *c) {
  for (uint32_t i = 0; i < c->nsources; i++) {
    for (uint32_t k = 0; k < c->sources[i].nfunctions; k++)
      reset_function(c->sources[i].functions[k]);
  }
}

static void free_source (tg_SourceCounts *s) {
  for (uint32_t i = 0; i < s->nfunctions; i++) {
    tg_free(s->functions[i]->pages);
    tg_free(s->functions[i]);
  }
  tg_free(s->functions);
}

void tg_counts_renew (tg_Counts *c) {
  for (uint32_t i = 0; i < c->nsources; i++)
    free_source(&c->sources[i]);
  tg_free(c->sources);
  tg_texts_free(&c->texts);
  tg_ledger_renew(&c->ledger);
  *c = (tg_Counts){.ledger = c->ledger};
}

void tg_counts_free (tg_Counts *c) {
  tg_counts_renew(c);
  tg_ledger_free(&c->ledger);
}
