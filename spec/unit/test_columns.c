/*
** test_columns.c - events in columns: joined again they are what they were,
** byte by byte; and whatever columns say, nothing is read or written outside of
** what was given (which the sanitizers see).
*/
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "recording/columns.h"
#include "stream/event.h"
#include "stream/supply.h"
#include "unit.h"

/*
** {==================================================================
** Events
** ===================================================================
*/

static void put (tg_Buf *b, const void *data, size_t size) {
  tg_buf_add(b, data, size);
}

/* Some bytes that no two events share. */
static void put_random (tg_Buf *b, uint64_t *seed, size_t size) {
  for (size_t i = 0; i < size; i++)
    tg_buf_addchar(b, (char)unit_random(seed));
}

static void put_head (tg_Buf *b, uint64_t *seed, uint32_t first, size_t size) {
  tg_buf_addchar(b, (char)first);
  put_random(b, seed, size - 1);
}

static void put_values (tg_Buf *b, uint64_t *seed, uint32_t flags,
                        size_t size) {
  if ((flags & TG_EVF_VALUES) == 0)
    return;
  uint32_t refers = unit_random(seed) % 2 ? TG_VALUES_REFERS : 0;
  tg_buf_put32(b, (uint32_t)size | refers);
  put_random(b, seed, size);
}

/* A count of as few bytes as it takes, or of four, as those have whose size was
   not known. */
static void put_short_values (tg_Buf *b, uint64_t *seed, uint32_t flags,
                              size_t size) {
  uint8_t bytes[4];
  if ((flags & TG_EVF_VALUES) == 0)
    return;
  bool wide = unit_random(seed) % 4 == 0;
  uint8_t *end = wide ? tg_putwide(bytes, size, 4) : tg_putvar(bytes, size);
  put(b, bytes, (size_t)(end - bytes));
  put_random(b, seed, size);
}

static void put_call (tg_Buf *b, uint64_t *seed, uint32_t flags, size_t size) {
  bool site = (flags & TG_EVF_SITE) != 0;
  put_head(b, seed, TG_EV_CALL | flags, 4);
  put_random(b, seed, !site ? 4 : flags & TG_EVF_FAR ? 12 : 8);
  put_values(b, seed, flags, size);
}

static void put_short_call (tg_Buf *b, uint64_t *seed, uint32_t flags,
                            size_t size) {
  flags = flags == 0 ? TG_EVF_FAR : flags;
  bool site = (flags & TG_EVF_SITE) != 0;
  put_head(b, seed, TG_EV_NONE | flags, TG_SHORT_HEAD);
  put_random(b, seed, !site ? 2 : flags & TG_EVF_FAR ? 6 : 4);
  put_short_values(b, seed, flags, size);
}

static void put_return (tg_Buf *b, uint64_t *seed, uint32_t flags,
                        size_t size) {
  bool is_short = (flags & TG_EVF_SHORT) != 0;
  put_head(b, seed, TG_EV_RETURN | flags, is_short ? TG_SHORT_HEAD : 4);
  if (flags & TG_EVF_NOTHING)
    return;
  if (is_short)
    put_short_values(b, seed, flags, size);
  else
    put_values(b, seed, flags, size);
}

/* One of those that are not sorted into columns, or a gauge. */
static void put_bare (tg_Buf *b, uint64_t *seed, uint32_t flags, size_t size) {
  static const uint8_t numbers[5] = {1, 2, 3, 4, 5};
  uint32_t n = (uint32_t)size % 40;
  switch (unit_random(seed) % 8) {
    case 0:
      put_head(b, seed, TG_EV_TIME | TG_EVF_GAUGE | flags, 4);
      break;
    case 1:
      put_head(b, seed, TG_EV_TIME, 4);
      put_random(b, seed, 8);
      break;
    case 2:
      put_head(b, seed, TG_EV_LEAVE | flags, 4);
      break;
    case 3:
      put_head(b, seed, TG_EV_CONTEXT, 4);
      put_random(b, seed, 8);
      tg_buf_put32(b, n);
      put_random(b, seed, n * 8);
      break;
    case 4:
      put_head(b, seed, TG_EV_RESUME | TG_EVF_LIST, 4);
      put_random(b, seed, 4);
      tg_buf_put32(b, n);
      put_random(b, seed, n * 4);
      break;
    case 5:
      put_head(b, seed, TG_EV_ALLOCATIONS, 4);
      put(b, numbers, sizeof numbers);
      break;
    case 6:
      put_head(b, seed, TG_EV_MARK | TG_EVF_NUMBER | TG_EVF_VALUES, 4);
      put_random(b, seed, 12);
      put_values(b, seed, TG_EVF_VALUES, size);
      break;
    default:
      put_head(b, seed, TG_EV_THROW | TG_EVF_VALUES, 4);
      put_random(b, seed, 4);
      put_values(b, seed, TG_EVF_VALUES, size);
  }
}

/* Few bytes of values mostly, now and then many. */
static size_t random_size (uint64_t *seed) {
  uint32_t r = unit_random(seed) % 100;
  return r < 60 ? r % 20 : r < 98 ? r : unit_random(seed) % TG_SHORT_WIDE;
}

static void put_event (tg_Buf *b, uint64_t *seed) {
  uint32_t flags = unit_random(seed) & 0xf0, which = unit_random(seed) % 16;
  size_t size = random_size(seed);
  if (which < 6)
    put_short_call(b, seed, flags, size);
  else if (which < 12)
    put_return(b, seed, flags, size);
  else if (which < 15)
    put_call(b, seed, flags, size);
  else
    put_bare(b, seed, flags, size);
}

/* }================================================================== */

/*
** {==================================================================
** There and back
** ===================================================================
*/

/* In memory of exactly that size, so that nothing is read behind it. */
static bool split (const tg_Buf *b, tg_EventColumns *c, uint8_t **memory) {
  uint8_t *exact = tg_malloc(b->size + 1);
  *memory = tg_malloc(tg_columns_room(b->size));
  UNIT_CHECK(exact != NULL && *memory != NULL);
  if (b->size > 0)
    memcpy(exact + 1, b->data, b->size);
  bool good = tg_columns_split(exact + 1, b->size, *memory, c);
  tg_free(exact);
  return good;
}

static bool joins (const tg_EventColumns *c, const tg_Buf *b) {
  uint8_t *back = tg_malloc(b->size + 1);
  UNIT_CHECK(back != NULL);
  bool good = tg_columns_join(c, back, b->size)
              && (b->size == 0 || memcmp(back, b->data, b->size) == 0);
  tg_free(back);
  return good;
}

/* Whether they are split: then they come back, and columns are within what is
   promised. */
static bool come_back (const tg_Buf *b) {
  tg_EventColumns c;
  uint8_t *memory;
  size_t sum = 0;
  bool good = split(b, &c, &memory);
  for (int i = 0; good && i < TG_COLUMNS; i++)
    sum += c.list[i].size;
  UNIT_CHECK(sum <= tg_columns_most(b->size));
  UNIT_CHECK(!good || joins(&c, b));
  tg_free(memory);
  return good;
}

static void there_and_back (const tg_Buf *b) {
  UNIT_CHECK(come_back(b));
}

static void each_kind_with_each_flag (void) {
  uint64_t seed = 1;
  tg_Buf b = {0};
  for (uint32_t flags = 0; flags < 0x100; flags += 0x10) {
    for (size_t size = 0; size < 200; size += 7) {
      tg_buf_clear(&b);
      put_short_call(&b, &seed, flags, size);
      there_and_back(&b);
      put_return(&b, &seed, flags, size);
      put_call(&b, &seed, flags, size);
      there_and_back(&b);
    }
  }
  tg_buf_free(&b);
}

static void random_streams (void) {
  uint64_t seed = 2;
  tg_Buf b = {0};
  uint32_t split = 0;
  for (uint32_t n = 0; n < 600; n++) {
    tg_buf_clear(&b);
    for (uint32_t i = 0; i < n; i++)
      put_event(&b, &seed);
    split += come_back(&b);
  }
  UNIT_CHECK(split > 550);
  tg_buf_free(&b);
}

static void one_of_each_column_alone_may_be_empty (void) {
  uint64_t seed = 3;
  tg_Buf b = {0};
  there_and_back(&b);
  put_return(&b, &seed, TG_EVF_SHORT | TG_EVF_NOTHING, 0);
  there_and_back(&b);
  tg_buf_clear(&b);
  put_head(&b, &seed, TG_EV_TIME | TG_EVF_GAUGE, 4);
  there_and_back(&b);
  tg_buf_free(&b);
}

static void values_of_a_whole_block (void) {
  uint64_t seed = 4;
  tg_Buf b = {0};
  put_call(&b, &seed, TG_EVF_VALUES | TG_EVF_SITE, TG_CHUNK_SIZE * 2);
  put_return(&b, &seed, TG_EVF_SHORT, 0);
  there_and_back(&b);
  tg_buf_free(&b);
}

/* Bare ones take more room in columns than they do without. */
static void mostly_bare_ones_are_not_split (void) {
  uint64_t seed = 5;
  tg_EventColumns c;
  uint8_t *memory;
  tg_Buf b = {0};
  for (int i = 0; i < 1000; i++)
    put_head(&b, &seed, TG_EV_LEAVE, 4);
  UNIT_CHECK(!split(&b, &c, &memory));
  tg_free(memory);
  tg_buf_free(&b);
}

static void what_is_no_event_is_not_split (void) {
  static const uint8_t endless[] = {TG_EVF_VALUES, 1, 1, 1, 1, 0x81, 0x80,
                                    0x80, 0x80, 0, 7};
  uint64_t seed = 6;
  tg_EventColumns c;
  uint8_t *memory;
  tg_Buf b = {0};
  for (int i = 0; i < 20; i++)
    put_event(&b, &seed);
  size_t size = b.size;
  put_call(&b, &seed, TG_EVF_VALUES | TG_EVF_SITE | TG_EVF_FAR, 9);
  for (size_t n = size + 1; n < size + 29; n++) {
    const tg_Buf cut = {.data = b.data, .size = n};
    UNIT_CHECK(!split(&cut, &c, &memory));
    tg_free(memory);
  }
  b.size = size;
  tg_buf_addchar(&b, 0);
  UNIT_CHECK(!split(&b, &c, &memory));
  tg_free(memory);
  b.size = size;
  put(&b, endless, sizeof endless);
  UNIT_CHECK(!split(&b, &c, &memory));
  tg_free(memory);
  tg_buf_free(&b);
}

/* }================================================================== */

/*
** {==================================================================
** Columns from anywhere
** ===================================================================
*/

/* A copy of each column, with room behind it as is promised and no more. */
static void copy_columns (const tg_EventColumns *c, tg_EventColumns *to) {
  for (int i = 0; i < TG_COLUMNS; i++) {
    to->list[i].size = c->list[i].size;
    to->list[i].data = tg_malloc(c->list[i].size + TG_COLUMNS_SLACK);
    UNIT_CHECK(to->list[i].data != NULL);
    memcpy(to->list[i].data, c->list[i].data, c->list[i].size);
    memset(to->list[i].data + c->list[i].size, 0xff, TG_COLUMNS_SLACK);
  }
}

/* In memory of that size: the rest is the sanitizer's. */
static bool joined (const tg_EventColumns *c, size_t size) {
  uint8_t *to = tg_malloc(size + 1);
  UNIT_CHECK(to != NULL);
  bool good = tg_columns_join(c, to, size);
  tg_free(to);
  return good;
}

static void change (tg_EventColumn *c, uint64_t *seed) {
  if (c->size > 0 && unit_random(seed) % 2)
    c->data[unit_random(seed) % c->size] = (uint8_t)unit_random(seed);
  else if (c->size > 0)
    c->size -= unit_random(seed) % (c->size < 40 ? (uint32_t)c->size : 40);
}

static void columns_that_are_others_never_lead_outside (void) {
  uint64_t seed = 7;
  tg_Buf b = {0};
  for (int n = 0; n < 4000; n++) {
    tg_EventColumns c, mine;
    uint8_t *memory;
    tg_buf_clear(&b);
    for (uint32_t i = unit_random(&seed) % 30 + 1; i > 0; i--)
      put_event(&b, &seed);
    if (split(&b, &c, &memory)) {
      copy_columns(&c, &mine);
      UNIT_CHECK(joined(&mine, b.size));
      UNIT_CHECK(!joined(&mine, b.size + 1) && !joined(&mine, b.size - 1));
      for (uint32_t i = unit_random(&seed) % 4; i < 4; i++)
        change(&mine.list[unit_random(&seed) % TG_COLUMNS], &seed);
      joined(&mine, b.size);
      for (int i = 0; i < TG_COLUMNS; i++)
        tg_free(mine.list[i].data);
    }
    tg_free(memory);
  }
  tg_buf_free(&b);
}

/* A column that lacks its last byte is not joined, nor is one with more. */
static void columns_of_another_size_are_not_joined (void) {
  uint64_t seed = 8;
  tg_EventColumns c;
  uint8_t *memory;
  tg_Buf b = {0};
  for (int i = 0; i < 100; i++)
    put_event(&b, &seed);
  UNIT_CHECK(split(&b, &c, &memory));
  for (int i = 0; i < TG_COLUMNS; i++) {
    tg_EventColumns mine = c;
    mine.list[i].size--;
    UNIT_CHECK(!joined(&mine, b.size));
    mine.list[i].size += 2;
    UNIT_CHECK(!joined(&mine, b.size));
  }
  UNIT_CHECK(joins(&c, &b));
  tg_free(memory);
  tg_buf_free(&b);
}

/* }================================================================== */

int main (void) {
  UNIT_RUN(each_kind_with_each_flag);
  UNIT_RUN(random_streams);
  UNIT_RUN(one_of_each_column_alone_may_be_empty);
  UNIT_RUN(values_of_a_whole_block);
  UNIT_RUN(mostly_bare_ones_are_not_split);
  UNIT_RUN(what_is_no_event_is_not_split);
  UNIT_RUN(columns_that_are_others_never_lead_outside);
  UNIT_RUN(columns_of_another_size_are_not_joined);
  return UNIT_END();
}
