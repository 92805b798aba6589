/*
** test_prices.c - what lists cost, told ahead: one price for each event that
** has a list, and no more than there is room for, whatever the bytes are.
*/
#include <stdlib.h>

#include "capture.h"
#include "stream/eventshape.h"
#include "stream/prices.h"
#include "unit.h"

/* Each kind of value costs something else. */
static const tg_Costs costs = {.ticks = {
  [TG_COST_VALUES] = 1000, [TG_COST_STRING] = 1, [TG_COST_TABLE] = 10,
  [TG_COST_PROPERTY] = 100
}};

#define TABLE "\x01\x80" "\x44\x41" "x\xc1\x3f"   /* a table with a property */
#define STRING "\x01\x07\x03\x03" "abc"           /* a long one */
#define NUMBER "\x01\x05\x02"

static const atomic_bool never = false;

/* So many prices, of these bytes in memory of just their size. */
static void check (const tg_Costs *c, const uint8_t *data, size_t size,
                   const tg_ValuePrice *wanted, size_t n) {
  size_t most = tg_prices_most(size);
  uint8_t *bytes = malloc(size);
  tg_ValuePrice *prices = calloc(most, sizeof *prices);
  UNIT_CHECK(n <= most && bytes != NULL && prices != NULL);
  memcpy(bytes, data, size);
  UNIT_CHECK(tg_prices_count(c, bytes, size, prices, &never) == n);
  UNIT_CHECK(memcmp(prices, wanted, n * sizeof *prices) == 0);
  for (size_t i = n; i < most; i++)
    UNIT_CHECK(prices[i] == 0);
  free(prices);
  free(bytes);
}

static size_t size_of (const Tape *t) {
  return (size_t)(t->p - t->chunk->block->data);
}

static void one_for_each_list (void) {
  static const tg_ValuePrice wanted[] = {1110, 1000, 1001, 1000, 1000};
  Tape t = tape_new();
  e_call(&t, 1, 0, TABLE);
  e_call(&t, 1, 0, NULL);
  e_plain(&t, TG_EV_RETURN | TG_EVF_NOTHING, NULL);   /* an empty list */
  e_plain(&t, TG_EV_YIELD, STRING);
  e_throw(&t, 1, NUMBER);
  e_return(&t);
  e_plain(&t, TG_EV_RETURN, NUMBER);
  check(&costs, t.chunk->block->data, size_of(&t), wanted, 5);
  check(&costs, t.chunk->block->data, size_of(&t) - 1, wanted, 4);
  tg_stream_unpin(t.stream);
}

/* They are no list that the hook has captured: what they cost stays. */
static void none_for_markers (void) {
  static const tg_ValuePrice wanted[] = {1000};
  static const uint8_t allocations[] = {1, 2, 3, 4, 5};
  Tape t = tape_new();
  e_head(&t, TG_EV_MARK | TG_EVF_VALUES);
  e_u32(&t, TG_MARK_TIME);
  e_values(&t, STRING);
  e_head(&t, TG_EV_ALLOCATIONS);
  memcpy(t.p, allocations, sizeof allocations);
  t.p += sizeof allocations;
  e_call(&t, 1, 0, NUMBER);
  check(&costs, t.chunk->block->data, size_of(&t), wanted, 1);
  tg_stream_unpin(t.stream);
}

static void more_than_fits_is_asked_for (void) {
  static const tg_ValuePrice wanted[] = {TG_PRICES_ASK, TG_PRICES_ASK - 1};
  tg_Costs dear = {.ticks = {[TG_COST_VALUES] = TG_PRICES_ASK - 1,
                             [TG_COST_TABLE] = 1}};
  Tape t = tape_new();
  e_call(&t, 1, 0, TABLE);
  e_call(&t, 1, 0, NUMBER);
  check(&dear, t.chunk->block->data, size_of(&t), wanted, 2);
  tg_stream_unpin(t.stream);
}

/* What each event says by itself, once it is decoded. */
static size_t by_decoding (const uint8_t *data, size_t size,
                           tg_ValuePrice *to) {
  const uint8_t *origin = data;
  tg_ValuePrice *first = to;
  tg_Event e;
  for (size_t at = 0, n; at < size; at += n) {
    tg_CountedModels models = {0};
    n = tg_event_decode(&origin, data + at, size - at, &e);
    if (n == 0)
      break;
    if (tg_costs_count_list(&e))
      *to++ = (tg_ValuePrice)tg_costs_of_list(&costs, e.values, &models);
  }
  return (size_t)(to - first);
}

static uint8_t *put_any (uint8_t *p, size_t n, uint64_t *seed) {
  while (n-- > 0)
    *p++ = (uint8_t)unit_random(seed);
  return p;
}

/* A call, a return or a gauge, whatever it says; now and then what is none. */
static uint8_t *put_event (uint8_t *p, uint64_t *seed) {
  static const uint8_t firsts[] = {
    TG_EVF_VALUES, TG_EVF_SITE, TG_EVF_VALUES | TG_EVF_SITE | TG_EVF_FAR,
    TG_EV_CALL | TG_EVF_VALUES, TG_EV_CALL, TG_EV_RETURN | TG_EVF_VALUES,
    TG_EV_RETURN | TG_EVF_SHORT | TG_EVF_VALUES, TG_EV_RETURN | TG_EVF_NOTHING,
    TG_EV_RETURN | TG_EVF_SHORT | TG_EVF_NOTHING, TG_EV_TIME | TG_EVF_GAUGE
  };
  if (unit_random(seed) % 40 == 0)
    return put_any(p, 1, seed);
  uint8_t first = firsts[unit_random(seed) % sizeof firsts];
  tg_EventShape s = tg_eventshapes[first];
  uint32_t size = (uint32_t)(unit_random(seed) % 24);
  *p = first;
  p = put_any(p + 1, s.size - 1u, seed);
  if (s.count == TG_SHAPE_NONE)
    return p;
  if (s.count == TG_SHAPE_U32)
    p = tg_put32(p, size | (unit_random(seed) % 2 ? TG_VALUES_REFERS : 0));
  else if (unit_random(seed) % 2)
    p = tg_putvar(p, size);
  else {                        /* in one byte more than it needs */
    *p++ = (uint8_t)(size | 0x80);
    *p++ = 0;
  }
  *p = (uint8_t)(unit_random(seed) % 4);        /* grips */
  return size > 0 ? put_any(p + 1, size - 1u, seed) : p;
}

/* Lists are found by the shape of what is around them: they are those that the
   events have. */
static void as_events_say (void) {
  enum {SIZE = 400, EVENT = 64};
  uint64_t seed = 7;
  uint8_t data[SIZE + EVENT];
  tg_ValuePrice wanted[SIZE];
  size_t lists = 0;
  for (int round = 0; round < 20000; round++) {
    uint8_t *p = data;
    while (p < data + SIZE)
      p = put_event(p, &seed);
    size_t n = by_decoding(data, SIZE, wanted);
    check(&costs, data, SIZE, wanted, n);
    lists += n;
  }
  UNIT_CHECK(lists > 20000 * 8);
}

/* The sanitizers see what is beyond. */
static void as_many_as_there_is_room_for (void) {
  enum {SIZE = 300};
  uint64_t seed = 1;
  uint8_t data[SIZE];
  tg_ValuePrice wanted[SIZE / TG_SHORT_HEAD];
  for (int i = 0; i < SIZE; i++)
    data[i] = TG_EV_RETURN | TG_EVF_SHORT | TG_EVF_NOTHING;
  for (int i = 0; i < SIZE / (int)TG_SHORT_HEAD; i++)
    wanted[i] = 1000;
  check(&costs, data, SIZE, wanted, SIZE / TG_SHORT_HEAD);
  for (int round = 0; round < 20000; round++) {
    size_t size = unit_random(&seed) % SIZE + 1;
    tg_ValuePrice *prices = malloc(tg_prices_most(size) * sizeof *prices);
    uint8_t *bytes = malloc(size);
    for (size_t i = 0; i < size; i++)
      bytes[i] = unit_random(&seed) % 3 ? data[0] : (uint8_t)unit_random(&seed);
    tg_prices_count(&costs, bytes, size, prices, &never);
    free(bytes);
    free(prices);
  }
}

static void no_more_than_is_enough (void) {
  const uint8_t data[] = {TG_EV_RETURN | TG_EVF_SHORT | TG_EVF_NOTHING, 1, 0};
  const atomic_bool enough = true;
  tg_ValuePrice price = 7;
  UNIT_CHECK(tg_prices_count(&costs, data, sizeof data, &price, &never) == 1);
  UNIT_CHECK(price == 1000);
  UNIT_CHECK(tg_prices_count(&costs, data, sizeof data, &price, &enough) == 0);
}

int main (void) {
  UNIT_RUN(no_more_than_is_enough);
  UNIT_RUN(one_for_each_list);
  UNIT_RUN(none_for_markers);
  UNIT_RUN(more_than_fits_is_asked_for);
  UNIT_RUN(as_events_say);
  UNIT_RUN(as_many_as_there_is_room_for);
  return UNIT_END();
}
