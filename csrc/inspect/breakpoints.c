/*
** breakpoints.c - the table of breakpoints: sources by their text, lines and
** functions as sorted lists. Changed when a debugger sets or removes one and
** when a source is met for the first time; read in the hook. Without memory a
** source stays unknown, and is asked for again with its next call.
*/
#include <string.h>

#include "inspect/breakpoints.h"
#include "base/alloc.h"
#include "base/grow.h"

/* Texts are compared and not addresses: the same file loaded twice is two
   strings if it is a long one (luaS_newlstr). This is asked once of a function,
   or of one that has lost its place in 'known'. */
int tg_breakpoints_find (tg_Breakpoints *b, const char *text, size_t size) {
  tg_TextId id = tg_texts_find(&b->texts, text, size);
  return (id != TG_TEXT_NONE && id <= (tg_TextId)b->nsources) ? (int)id - 1
                                                              : -1;
}

/* The text is added last: its number is the source's index in the list. Facts
   about functions stay, since no known function is of this source. */
int tg_breakpoints_add (tg_Breakpoints *b, const char *text, size_t size,
                        bool own) {
  tg_assert(tg_breakpoints_find(b, text, size) < 0);
  if (!tg_grow(&b->sources, &b->capacity, (uint32_t)b->nsources + 1,
               sizeof *b->sources)
      || tg_texts_add(&b->texts, text, size) == TG_TEXT_NONE)
    return -1;
  tg_assert((uint32_t)b->nsources + 1 == b->texts.count);
  b->sources[b->nsources] = (tg_Source){.own = own};
  return b->nsources++;
}

static bool has (const tg_Lines *list, int wanted) {
  int low = 0, high = list->n;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (list->at[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low < list->n && list->at[low] == wanted;
}

static bool adds (const tg_Lines *list, const tg_Lines *next) {
  for (int k = 0; k < next->n; k++) {
    if (!has(list, next->at[k]))
      return true;
  }
  return false;
}

void tg_places_free (tg_Places *p) {
  tg_free(p->lines.at);
  tg_free(p->entries.at);
  tg_free(p->functions.at);
}

void tg_breakpoints_set (tg_Breakpoints *b, int at, const tg_Places *p) {
  tg_assert(at >= 0 && at < b->nsources);
  tg_Places *old = &b->sources[at].places;
  b->widened = b->widened || adds(&old->lines, &p->lines)
               || adds(&old->entries, &p->entries);
  b->count += p->lines.n + p->entries.n - old->lines.n - old->entries.n;
  tg_places_free(old);
  *old = *p;
  b->epoch++;
  tg_assert(b->count >= 0);
}

bool tg_breakpoints_line (const tg_Breakpoints *b, int at, int line) {
  tg_assert(at >= 0 && at < b->nsources);
  return has(&b->sources[at].places.lines, line);
}

bool tg_breakpoints_entry (const tg_Breakpoints *b, int at, int first) {
  tg_assert(at >= 0 && at < b->nsources);
  return has(&b->sources[at].places.entries, first);
}

bool tg_breakpoints_function (const tg_Breakpoints *b, int at, int first) {
  tg_assert(at >= 0 && at < b->nsources);
  return has(&b->sources[at].places.functions, first);
}

void tg_breakpoints_free (tg_Breakpoints *b) {
  for (int i = 0; i < b->nsources; i++)
    tg_places_free(&b->sources[i].places);
  tg_free(b->sources);
  tg_texts_free(&b->texts);
}
