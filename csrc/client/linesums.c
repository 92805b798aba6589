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

/* ---- memory ---- */

/* All that rows have allocated, as if no line were known. */
static bool add_rows (tg_LineSums *s, const tg_Profile *p) {
  uint32_t rows = p->nrows < p->usage.nrows ? p->nrows : p->usage.nrows;
  for (uint32_t row = 0; row < rows; row++) {
    const tg_Amount *self = &p->usage.rows[row].tally.self;
    if (self->count == 0 && self->allocated == 0)
      continue;
    tg_LineSum *sum = sum_of(s, row, 0);
    if (sum == NULL)
      return false;
    sum->allocations = self->count;
    sum->bytes = self->allocated;
  }
  return true;
}

/* A line has so much of what its row has. */
static bool move (tg_LineSums *s, const tg_Spot *spot, const tg_LineTime *has) {
  tg_LineSum *rest = sum_of(s, spot->of, 0);
  if (rest == NULL)
    return false;
  rest->allocations -= has->allocations;
  rest->bytes -= has->bytes;
  tg_LineSum *sum = sum_of(s, spot->of, spot->line);    /* 'rest' may move */
  if (sum == NULL)
    return false;
  sum->allocations += has->allocations;
  sum->bytes += has->bytes;
  return true;
}

static bool move_all (tg_LineSums *s, const tg_Profile *p) {
  const tg_LineTimes *lines = &p->sites;
  for (uint32_t i = 0; i < lines->spots.count; i++) {
    if (!move(s, &lines->spots.list[i], &lines->list[i]))
      return false;
  }
  return true;
}

/* Owners are rows, from 1 on (usage.h). */
static bool add_held (tg_LineSums *s, const tg_Profile *p) {
  const tg_Spots *holders = &p->usage.holders;
  for (uint32_t i = 0; i < holders->count; i++) {
    const tg_Spot *spot = &holders->list[i];
    uint64_t live = tg_live_of(&p->usage.live, i).now.bytes;
    if (spot->of == 0 || live == 0)
      continue;
    tg_LineSum *sum = sum_of(s, spot->of - 1, spot->line);
    if (sum == NULL)
      return false;
    sum->live += live;
  }
  return true;
}

bool tg_linesums_allocated (tg_LineSums *s, const tg_Profile *p) {
  for (uint32_t i = 0; i < s->n; i++)
    s->list[i].allocations = s->list[i].bytes = s->list[i].live = 0;
  return add_rows(s, p) && move_all(s, p) && add_held(s, p);
}

void tg_linesums_free (tg_LineSums *s) {
  tg_free(s->list);
  tg_intmap_free(&s->places);
  memset(s, 0, sizeof *s);
}
