/*
** prices.c - see prices.h. Called by the thread that unpacks blocks, once for
** each of them.
*/
#include "stream/prices.h"

#include <string.h>

#include "stream/eventshape.h"

typedef struct Counting {
  const tg_Costs *costs;
  const uint8_t *end, *origin;
  tg_CountedModels models;
  tg_ValuePrice *to;
} Counting;

static void put_price (Counting *k, tg_Slice values) {
  uint64_t ticks = tg_costs_of_list(k->costs, values, &k->models);
  *k->to++ = ticks < TG_PRICES_ASK ? (tg_ValuePrice)ticks : TG_PRICES_ASK;
}

/* Any event, 0 if it is none. */
static size_t pass_event (Counting *k, const uint8_t *p) {
  tg_Event e;
  const uint8_t *before = k->origin;
  size_t n = tg_event_decode(&k->origin, p, (size_t)(k->end - p), &e);
  if (n > 0 && k->origin != before)
    memset(&k->models, 0, sizeof k->models);
  if (n > 0 && tg_costs_count_list(&e))
    put_price(k, e.values);
  return n;
}

/* An event with that shape, which is whole but for its values; 0: one has to
   look. */
TG_INLINE size_t pass_shaped (Counting *k, const uint8_t *p, tg_EventShape s) {
  const uint8_t *values = p + s.size;
  size_t n = 0;
  if (s.count != TG_SHAPE_NONE) {
    n = tg_eventshape_values(values, s);
    if (n == 0 || n > (size_t)(k->end - values))
      return 0;
  }
  if (tg_eventshape_has_list(*p, s))
    put_price(k, tg_eventshape_list(values, n, s, k->origin));
  return s.size + n;
}

size_t tg_prices_count (const tg_Costs *c, const uint8_t *data, size_t size,
                        tg_ValuePrice *to, const atomic_bool *enough) {
  Counting k = {.costs = c, .end = data + size, .origin = data, .to = to};
  const uint8_t *p = data;
  size_t n = 1;
  for (; n > 0 && p < k.end
         && !atomic_load_explicit(enough, memory_order_relaxed); p += n) {
    tg_EventShape s = tg_eventshapes[*p];
    n = 0;
    if (s.size > 0 && k.end - p >= (ptrdiff_t)TG_SHAPE_MOST)
      n = pass_shaped(&k, p, s);
    if (n == 0)
      n = pass_event(&k, p);
  }
  return (size_t)(k.to - to);
}
