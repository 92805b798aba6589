/*
** linesums.c - see linesums.h. Plain C, one thread. What is read comes from
** another process: frames and lines may not be as many as each other.
*/
#include "client/linesums.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "profile/linetimes.h"

/* The sum of a line, a new one if there is none. NULL without memory. */
static tg_LineSum *sum_of (tg_LineSums *s, uint32_t row, uint32_t line) {
  uint64_t key = (uint64_t)row << 32 | line;
  uint32_t place = tg_intmap_find(&s->places, key);
  if (place != TG_INTMAP_NONE)
    return &s->list[place];
  if (!tg_grow(&s->list, &s->capacity, s->n + 1, sizeof *s->list)
      || !tg_intmap_set(&s->places, key, s->n))
    return NULL;
  s->list[s->n] = (tg_LineSum){.row = row, .line = line};
  return &s->list[s->n++];
}

bool tg_linesums_add (tg_LineSums *s, const tg_Profile *p,
                      const tg_Packet *tick) {
  tg_LineSum *sum = NULL;
  s->ticks++;
  for (uint32_t i = 0; i < p->nopen; i++) {
    sum = sum_of(s, p->open[i].call.row, tg_linetimes_line(tick, i));
    if (sum == NULL)
      return false;
    if (sum->tick != s->ticks)
      sum->total_ns += tick->hits;
    sum->tick = s->ticks;
  }
  if (sum != NULL)
    sum->self_ns += tick->hits;
  return true;
}

void tg_linesums_free (tg_LineSums *s) {
  tg_free(s->list);
  tg_intmap_free(&s->places);
  memset(s, 0, sizeof *s);
}
