/*
** linetimes.c - see linetimes.h. Called by profiles and exports, on the thread
** that reads. What a damaged file says of lines is a number like any other.
*/
#include "profile/linetimes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "profile/bytick.h"

void tg_linetimes_free (tg_LineTimes *l) {
  tg_spots_free(&l->spots);
  tg_free(l->list);
  tg_free(l->next);
  tg_free(l->first);
  memset(l, 0, sizeof *l);
}

/* The bytes are a reader's own, at any address once they are in a batch. */
uint32_t tg_linetimes_line (const tg_Packet *tick, uint32_t level) {
  uint32_t line;
  tg_assert(tick->why == TG_WHY_TICK);
  if (level >= tick->values.size / sizeof line)
    return 0;
  memcpy(&line, tick->values.data + level * sizeof line, sizeof line);
  return line;
}

tg_LineTime *tg_linetimes_at (tg_LineTimes *l, uint32_t of, uint32_t line) {
  if (!tg_grow_zeroed(&l->list, &l->capacity, l->spots.count + 1,
                      sizeof *l->list))
    return NULL;        /* before the pair has a number */
  uint32_t n = tg_spots_number(&l->spots, of, line);
  return n != TG_INTMAP_NONE ? &l->list[n] : NULL;
}

bool tg_linetimes_tick (tg_LineTimes *l, uint32_t of, uint32_t line,
                        uint64_t ns) {
  tg_LineTime *t = tg_linetimes_at(l, of, line);
  if (t != NULL)
    tg_ticked_add(&t->ticked, ns);
  return t != NULL;
}

/* ---- parts ---- */

/* Up to here 'sum_ns' of the owner's ticks are divided: what of its self time
   that is. By the sums, so that nothing is lost by rounding. */
static uint64_t part_of (const tg_Node *n, uint64_t sum_ns) {
  double part = (double)sum_ns / (double)n->ticked.ns;
  if (sum_ns == n->ticked.ns || n->tally.self_ns == n->ticked.ns)
    return n->tally.self_ns - (n->ticked.ns - sum_ns);
  return (uint64_t)((double)n->tally.self_ns * part);
}

static void divide (tg_LineTime *line, const tg_Node *n, uint64_t *sum_ns,
                    uint64_t whole_ns) {
  if (n->ticked.ns == 0)
    return;
  double scale = (double)n->tally.self_ns / (double)n->ticked.ns;
  uint64_t before = part_of(n, *sum_ns);
  *sum_ns += line->ticked.ns;
  line->self_ns = part_of(n, *sum_ns) - before;
  line->variance = tg_bytick_variance(&line->ticked, whole_ns) * scale * scale;
}

bool tg_linetimes_divide (tg_LineTimes *l, const tg_CallTree *t,
                          uint64_t whole_ns) {
  uint64_t *sums = tg_calloc(t->count, sizeof *sums);
  if (sums == NULL)
    return false;
  for (uint32_t i = 0; i < l->spots.count; i++) {
    uint32_t of = l->spots.list[i].of;
    tg_assert(of < t->count);
    divide(&l->list[i], &t->nodes[of], &sums[of], whole_ns);
  }
  tg_free(sums);
  return true;
}

void tg_linetimes_keep (tg_LineTimes *l, uint64_t whole_ns) {
  for (uint32_t i = 0; i < l->spots.count; i++) {
    tg_LineTime *line = &l->list[i];
    line->self_ns = line->ticked.ns;
    line->variance = tg_bytick_variance(&line->ticked, whole_ns);
  }
}

/* ---- lists ---- */

/* From the last one on, so that the first is in front. */
bool tg_linetimes_chain (tg_LineTimes *l, uint32_t owners) {
  uint32_t count = l->spots.count;
  tg_assert(l->first == NULL && l->next == NULL);
  l->first = tg_calloc(owners + 1, sizeof *l->first);
  l->next = tg_calloc(count + 1, sizeof *l->next);
  if (l->first == NULL || l->next == NULL)
    return false;
  memset(l->first, 0xff, (owners + 1) * sizeof *l->first);
  for (uint32_t i = count; i > 0; i--) {
    uint32_t of = l->spots.list[i - 1].of;
    tg_assert(of < owners);
    l->next[i - 1] = l->first[of];
    l->first[of] = i - 1;
  }
  return true;
}
