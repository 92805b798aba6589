/*
** counts.c - the lists of what is counted. Asked for once for each prototype
** (coverage.c remembers what was found). Sources are found by their text, of
** which there may be very many; the functions of one are looked through from
** the beginning: files have some hundred. Called in the hook, where nothing may
** fail: what there is no memory for is not counted.
*/
#include "coverage/counts.h"

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
tg_SourceCounts *tg_counts_add (tg_Counts *c, const char *text, size_t size,
                                bool own) {
  tg_assert(tg_counts_find(c, text, size) == NULL);
  if (!tg_grow(&c->sources, &c->capacity, c->nsources + 1,
               sizeof *c->sources)
      || tg_texts_add(&c->texts, text, size) == TG_TEXT_NONE)
    return NULL;
  tg_SourceCounts *s = &c->sources[c->nsources++];
  tg_assert(c->nsources == c->texts.count);
  *s = (tg_SourceCounts){.own = own};
  return s;
}

static tg_FunctionCounts *add_function (tg_SourceCounts *s, int first,
                                        int last) {
  if (!tg_grow(&s->functions, &s->capacity, s->nfunctions + 1,
               sizeof *s->functions))
    return NULL;
  tg_FunctionCounts *f = tg_calloc(1, sizeof *f);
  if (f == NULL)
    return NULL;
  f->first = first;
  f->last = last;
  s->functions[s->nfunctions++] = f;
  return f;
}

tg_FunctionCounts *tg_counts_function (tg_SourceCounts *s, int first,
                                       int last) {
  for (uint32_t i = 0; i < s->nfunctions; i++) {
    tg_FunctionCounts *f = s->functions[i];
    if (f->first == first && f->last == last)
      return f;
  }
  return add_function(s, first, last);
}

/* How long a main chunk is nobody says, so lists grow; a line before the
   function's first is as far away as can be. */
bool tg_counts_reach (tg_FunctionCounts *f, uint32_t at) {
  return at < LONGEST
         && tg_grow_zeroed(&f->lines, &f->nlines, at + 1, sizeof *f->lines);
}

void tg_counts_reset (tg_Counts *c) {
  for (uint32_t i = 0; i < c->nsources; i++) {
    for (uint32_t k = 0; k < c->sources[i].nfunctions; k++) {
      tg_FunctionCounts *f = c->sources[i].functions[k];
      f->calls = 0;
      if (f->nlines > 0)
        memset(f->lines, 0, f->nlines * sizeof *f->lines);
    }
  }
}

static void free_source (tg_SourceCounts *s) {
  for (uint32_t i = 0; i < s->nfunctions; i++) {
    tg_free(s->functions[i]->lines);
    tg_free(s->functions[i]);
  }
  tg_free(s->functions);
}

void tg_counts_free (tg_Counts *c) {
  for (uint32_t i = 0; i < c->nsources; i++)
    free_source(&c->sources[i]);
  tg_free(c->sources);
  tg_texts_free(&c->texts);
  memset(c, 0, sizeof *c);
}
