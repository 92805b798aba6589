/*
** prices.c - see prices.h. Called by the thread that unpacks blocks, once for
** each of them: whoever reads may wait for that.
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

/* The values of 'n' bytes at 'p', of which the first are their count. */
TG_INLINE tg_Slice slice_of (const Counting *k, const uint8_t *p, size_t n,
                             tg_EventShape s) {
  size_t counted = 1;
  bool refers;
  if (s.count == TG_SHAPE_U32) {
    counted = sizeof(uint32_t);
    refers = (tg_get32(p) & TG_VALUES_REFERS) != 0;
  }
  else {
    while (p[counted - 1] >= 0x80)
      counted++;
    refers = counted > 1;
  }
  return (tg_Slice){.data = p + counted, .size = n - counted,
                    .origin = refers ? k->origin : NULL};
}

TG_INLINE bool gives_nothing (uint8_t first) {
  return (first & (TG_EV_KINDMASK | TG_EVF_NOTHING))
         == (TG_EV_RETURN | TG_EVF_NOTHING);
}

/* An event with that shape, which is whole but for its values; 0: one has to
   look. */
TG_INLINE size_t pass_shaped (Counting *k, const uint8_t *p, tg_EventShape s) {
  static const uint8_t nothing[] = {0};
  const uint8_t *values = p + s.size;
  if (s.count == TG_SHAPE_NONE) {
    if (gives_nothing(*p))
      put_price(k, (tg_Slice){.data = nothing, .size = sizeof nothing});
    return s.size;
  }
  size_t n = tg_eventshape_values(values, s);
  if (n == 0 || n > (size_t)(k->end - values))
    return 0;
  put_price(k, slice_of(k, values, n, s));
  return s.size + n;
}

void tg_prices_count (const tg_Costs *c, const uint8_t *data, size_t size,
                      tg_ValuePrice *to) {
  Counting k = {.costs = c, .end = data + size, .origin = data, .to = to};
  const uint8_t *p = data;
  for (size_t n; p < k.end; p += n) {
    tg_EventShape s = tg_eventshapes[*p];
    n = 0;
    if (s.size > 0 && k.end - p >= (ptrdiff_t)TG_SHAPE_MOST)
      n = pass_shaped(&k, p, s);
    if (n == 0 && (n = pass_event(&k, p)) == 0)
      return;
  }
}
