/*
** lineticks.c - see lineticks.h. For cpuprofile.c, which adds with each sample
** and writes when all are in. Memory that is refused is told by 'add'; what was
** there before stays as it is.
*/
#include "formats/chrome/lineticks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

/* The list's new item comes before the others of its node. */
static tg_LineTick *new_tick (tg_LineTicks *t, uint32_t node, uint32_t line,
                              uint64_t key) {
  if (!tg_grow(&t->list, &t->capacity, t->count + 1, sizeof *t->list)
      || (node >= t->nodes
          && !tg_grow_zeroed(&t->first, &t->nodes, node + 1, sizeof *t->first))
      || !tg_intmap_set(&t->places, key, t->count))
    return NULL;
  tg_LineTick *k = &t->list[t->count++];
  *k = (tg_LineTick){.line = line, .next = t->first[node]};
  t->first[node] = t->count;
  return k;
}

bool tg_lineticks_add (tg_LineTicks *t, uint32_t node, uint32_t line,
                       uint64_t ticks) {
  uint64_t key = (uint64_t)node << 32 | line;
  uint32_t place = tg_intmap_find(&t->places, key);
  tg_LineTick *k = place != TG_INTMAP_NONE ? &t->list[place]
                                           : new_tick(t, node, line, key);
  if (k == NULL)
    return false;
  k->ticks += ticks;
  return true;
}

static uint32_t first_of (const tg_LineTicks *t, uint32_t node) {
  return node < t->nodes ? t->first[node] : 0;
}

uint64_t tg_lineticks_sum (const tg_LineTicks *t, uint32_t node) {
  uint64_t sum = 0;
  for (uint32_t i = first_of(t, node); i != 0; i = t->list[i - 1].next) {
    tg_assert(i <= t->count);
    sum += t->list[i - 1].ticks;
  }
  return sum;
}

/* Lines count from 1 here, other than those of V8's call frames. */
void tg_lineticks_put (const tg_LineTicks *t, uint32_t node, tg_Buf *out) {
  bool any = false;
  for (uint32_t i = first_of(t, node); i != 0; i = t->list[i - 1].next) {
    const tg_LineTick *k = &t->list[i - 1];
    if (k->line == 0)
      continue;
    tg_buf_addstr(out, any ? ",{\"line\":" : ",\"positionTicks\":[{\"line\":");
    tg_buf_addu64(out, k->line);
    tg_buf_addstr(out, ",\"ticks\":");
    tg_buf_addu64(out, k->ticks);
    tg_buf_addchar(out, '}');
    any = true;
  }
  if (any)
    tg_buf_addchar(out, ']');
}

void tg_lineticks_free (tg_LineTicks *t) {
  tg_free(t->list);
  tg_free(t->first);
  tg_intmap_free(&t->places);
  memset(t, 0, sizeof *t);
}
