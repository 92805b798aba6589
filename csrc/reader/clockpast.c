/*
** clockpast.c - see clockpast.h. Called by the reader, for each event that it
** reads for somebody who asks for markers.
*/
#include "reader/clockpast.h"

#include <string.h>

#include "base/alloc.h"

void tg_clockpast_free (tg_ClockPast *c) {
  tg_free(c->list);
  memset(c, 0, sizeof *c);
}

/* Every second one goes, the first stays. What was there long has been through
   this often, so it is sparse; what has come since is whole. */
static void thin (tg_ClockPast *c) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->count; i += 2)
    c->list[n++] = c->list[i];
  c->count = n;
}

bool tg_clockpast_add (tg_ClockPast *c, uint64_t ticks, uint64_t out) {
  if (tg_unlikely(c->list == NULL)) {
    c->list = tg_malloc(TG_CLOCKPAST_MOST * sizeof *c->list);
    if (c->list == NULL)
      return false;
  }
  if (tg_unlikely(c->count == TG_CLOCKPAST_MOST))
    thin(c);
  c->list[c->count++] = (tg_ClockMoment){ticks, out};
  return true;
}

/* How many are no later than that. */
static uint32_t until (const tg_ClockPast *c, uint64_t ticks) {
  uint32_t low = 0, high = c->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (c->list[middle].ticks <= ticks)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

uint64_t tg_clockpast_at (const tg_ClockPast *c, uint64_t ticks) {
  uint32_t i = until(c, ticks);
  if (i == 0)
    return c->count > 0 ? c->list[0].out : 0;
  const tg_ClockMoment *a = &c->list[i - 1];
  if (i == c->count)
    return a->out;
  const tg_ClockMoment *b = &c->list[i];
  double part = (double)(ticks - a->ticks) / (double)(b->ticks - a->ticks);
  return a->out + (uint64_t)((double)(b->out - a->out) * part);
}
