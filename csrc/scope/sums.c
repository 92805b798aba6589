/*
** sums.c - see sums.h. For making.c, once for each segment.
**
** The hash table of the sums is the summer's and is used again for each
** segment; a segment keeps the list only. Without memory false; a segment
** without sums is read again for every question, which is slow and not wrong.
*/
#include "scope/sums.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

/* More sums than such a part of the events are not kept: they would take as
   much memory as the events, and answers from them as long as reading again. */
#define LEAST 32u       /* always so many, however few the events are */
#define PART 6u         /* then a sixth of the events */

#define FIRST_SLOTS 64u

/* Timeline, depth and kind are what a question tells sums apart by. Mixed into
   one number: two that fall on one are told apart by is_of. */
static size_t home_of (const tg_ScopeSummer *with, const tg_ScopeEvent *e) {
  uint64_t key = (uint64_t)e->timeline << 40 ^ (uint64_t)e->depth << 20
                 ^ e->kind;
  return (size_t)tg_hash(key, with->slots) & (with->nslots - 1);
}

static bool is_of (const tg_ScopeSum *sum, const tg_ScopeEvent *e) {
  return sum->kind == e->kind && sum->depth == e->depth
         && sum->timeline == e->timeline;
}

/* The sum that an event belongs to; a new one while there are fewer than
   'most'; NULL then. */
static tg_ScopeSum *sum_of (const tg_ScopeSummer *with, tg_ScopeSums *sums,
                            const tg_ScopeEvent *e, uint32_t most) {
  size_t i = home_of(with, e);
  tg_assert(2 * most <= with->nslots);  /* a free slot is always found */
  while (with->slots[i] != 0) {
    tg_ScopeSum *sum = &sums->list[with->slots[i] - 1];
    if (is_of(sum, e))
      return sum;
    i = (i + 1) & (with->nslots - 1);
  }
  if (sums->count == most)
    return NULL;
  tg_ScopeSum *sum = &sums->list[sums->count++];
  with->slots[i] = sums->count;
  *sum = (tg_ScopeSum){
    .timeline = e->timeline, .kind = e->kind, .depth = e->depth,
    .start_ns = e->start_ns, .first = e->id
  };
  return sum;
}

/* What the events of a sum have in common is in it already; here one more is
   counted. */
static void add (tg_ScopeSum *sum, const tg_ScopeEvent *e) {
  sum->hits += e->hits;
  sum->time_ns += e->time_ns;
  sum->overhead_ns += e->overhead_ns;
  if (sum->end_ns < e->end_ns)
    sum->end_ns = e->end_ns;
}

/* Slots for so many sums, all free. Twice as many as sums, so that searches are
   short and end. */
static bool clear_slots (tg_ScopeSummer *with, uint32_t most) {
  uint32_t n = FIRST_SLOTS;
  while (n < 2 * most)
    n *= 2;
  if (n > with->nslots) {
    uint32_t *slots = tg_realloc(with->slots, n * sizeof *slots);
    if (slots == NULL)
      return false;
    with->slots = slots;
    with->nslots = n;
  }
  memset(with->slots, 0, with->nslots * sizeof *with->slots);
  return true;
}

/* Gives back what is not needed of the room for sums. A smaller block that
   cannot be had is no failure: the larger one stays. */
static void trim (tg_ScopeSums *sums) {
  size_t size = sums->count * sizeof *sums->list;
  if (size == 0 || !sums->whole) {
    tg_free(sums->list);
    sums->list = NULL;
    sums->count = 0;
    return;
  }
  tg_ScopeSum *fit = tg_realloc(sums->list, size);
  if (fit != NULL)
    sums->list = fit;
}

/* Events that are not over (no id) are long ones and in no sum. When there are
   too many sums all are given up: a part of them answers nothing. */
bool tg_scopesums_make (tg_ScopeSummer *with, tg_ScopeSums *sums,
                        const tg_ScopeEvent *events, size_t count) {
  uint32_t most = LEAST + (uint32_t)(count / PART);
  memset(sums, 0, sizeof *sums);
  sums->list = tg_malloc(most * sizeof *sums->list);
  if (sums->list == NULL || !clear_slots(with, most))
    return false;
  sums->whole = true;
  for (size_t i = 0; i < count && sums->whole; i++) {
    if (events[i].id == 0)
      continue;
    tg_ScopeSum *sum = sum_of(with, sums, &events[i], most);
    sums->whole = sum != NULL;
    if (sum != NULL)
      add(sum, &events[i]);
  }
  trim(sums);
  return true;
}

void tg_scopesums_free (tg_ScopeSums *sums) {
  tg_free(sums->list);
  memset(sums, 0, sizeof *sums);
}
