/*
** counts.c - the lists of what is counted. Asked for once for each prototype
** (coverage.c remembers what was found). Sources are found by their text, of
** which there may be very many; the functions of one are looked through from
** the latest on: files have some hundred. Called in the hook, where nothing may
** fail: what there is no memory for is not counted, which the ledger says.
*/
#include "coverage/counts.h"

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

static tg_FunctionCounts *add_function (tg_Counts *c, tg_SourceCounts *s,
                                        int first, int last) {
  tg_FunctionCounts f = {.first = first, .last = last}, *kept = NULL;
  if (tg_grow(&s->functions, &s->capacity, s->nfunctions + 1,
              sizeof *s->functions))
    kept = tg_malloc(sizeof *kept);
  if (kept == NULL) {
    tg_ledger_missing(&c->ledger, ENOMEM);
    return NULL;
  }
  f.number = tg_ledger_function(&c->ledger, s->number, first, last, &f.calls);
  if (f.number == 0) {
    tg_free(kept);
    return NULL;
  }
  *kept = f;
  s->functions[s->nfunctions++] = kept;
  return kept;
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

/* How long a main chunk is nobody says, so lists grow. */
uint64_t *tg_counts_reach (tg_Counts *c, tg_FunctionCounts *f, uint32_t page) {
  tg_assert(tg_counts_page(f, page) == NULL);
  if (page >= LONGEST / TG_LEDGER_LINES)
    return NULL;
  if (!tg_grow_zeroed(&f->pages, &f->npages, page + 1, sizeof *f->pages)) {
    tg_ledger_missing(&c->ledger, ENOMEM);
    return NULL;
  }
  return f->pages[page] = tg_ledger_counts(&c->ledger, f->number, page);
}

static void reset_function (tg_FunctionCounts *f) {
  *f->calls = 0;
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
