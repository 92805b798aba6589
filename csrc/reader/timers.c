/*
** timers.c - see timers.h. Called by the reader, for each marker of a timer. A
** damaged file may say that a timer began at any moment: then none is found.
*/
#include "reader/timers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "stream/marks.h"

void tg_timers_free (tg_Timers *t) {
  tg_free(t->list);
  memset(t, 0, sizeof *t);
}

bool tg_timers_begin (tg_Timers *t, uint64_t ticks, uint64_t ns) {
  tg_assert(t->count == 0 || ticks >= t->list[t->count - 1].ticks);
  if (!tg_grow(&t->list, &t->capacity, t->count + 1, sizeof *t->list))
    return false;
  t->list[t->count++] = (tg_TimerStart){ticks, ns};
  return true;
}

/* How many began before that. */
static uint32_t place_of (const tg_Timers *t, uint64_t ticks) {
  uint32_t low = 0, high = t->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (t->list[middle].ticks < ticks)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static uint64_t distance (uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

/* The nearest, of the two neighbours. Two that began at one tick began at one
   moment: either is right. */
const tg_TimerStart *tg_timers_find (const tg_Timers *t, uint64_t ticks,
                                     uint64_t off) {
  uint32_t i = place_of(t, ticks);
  if (i == t->count
      || (i > 0 && distance(t->list[i - 1].ticks, ticks)
                   < distance(t->list[i].ticks, ticks))) {
    if (i == 0)
      return NULL;
    i--;
  }
  return distance(t->list[i].ticks, ticks) <= off ? &t->list[i] : NULL;
}

/* Timers mostly end in the order in which they nest, so few are behind it. */
void tg_timers_end (tg_Timers *t, const tg_TimerStart *start) {
  uint32_t i = (uint32_t)(start - t->list);
  tg_check(i < t->count);
  memmove(&t->list[i], &t->list[i + 1],
          (t->count - i - 1) * sizeof *t->list);
  t->count--;
}

/* A timer's number is whole nanoseconds, and the moments of its markers are
   whole ticks: by so much the one that is looked for may be off. */
static uint64_t off_of (const tg_Clock *clock) {
  const double off_ns = 3, most = 1000;
  double off = off_ns / clock->ns_per_tick;
  return 1 + (uint64_t)(off < most ? off : most);
}

/* The time by the reader's clock when a span began that is not known. */
static uint64_t began_at (const tg_ClockPast *past, const tg_Clock *clock,
                          uint64_t since) {
  uint64_t out = tg_clockpast_at(past, since);
  return tg_clock_ns(clock, since > out ? since - out : 0);
}

void tg_timers_correct (tg_Timers *t, const tg_ClockPast *past,
                        const tg_Clock *clock, tg_Event *e, uint64_t ticks,
                        uint64_t now_ns) {
  double ran = (double)e->number / clock->ns_per_tick;
  uint64_t since = ran < (double)ticks ? ticks - (uint64_t)ran : 0;
  uint32_t sort = e->mark & TG_MARK_SORT;
  const tg_TimerStart *start = NULL;
  if (sort != TG_MARK_COLLECTION && sort != TG_MARK_UNTRACED)
    start = tg_timers_find(t, since, off_of(clock));
  if (start == NULL && past->count == 0)
    return;                     /* nothing is taken out */
  uint64_t from_ns = start != NULL ? start->ns
                                   : began_at(past, clock, since);
  e->number = now_ns > from_ns ? now_ns - from_ns : 0;
  if (start != NULL && sort == TG_MARK_TIMEEND)
    tg_timers_end(t, start);
}
