/*
** test_tables.c - arrays that grow, maps of numbers and tables of strings,
** against slow ones that cannot be wrong.
*/
#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/grow.h"
#include "base/intern.h"
#include "base/intmap.h"
#include "stream/texts.h"
#include "unit.h"

#define KEYS 300u
#define ROUNDS 60000u

/*
** {==================================================================
** Arrays
** ===================================================================
*/

static void grows_and_keeps (void) {
  uint32_t *list = NULL, capacity = 0, before = 0;
  for (uint32_t i = 0; i < 1000; i++) {
    UNIT_CHECK(tg_grow(&list, &capacity, i + 1, sizeof *list));
    UNIT_CHECK(capacity > i && (capacity == before || before <= i));
    before = capacity;
    list[i] = i * i;
  }
  for (uint32_t i = 0; i < 1000; i++)
    UNIT_CHECK(list[i] == i * i);
  UNIT_CHECK(capacity < 2 * 1000);
  tg_free(list);
}

static void zeroes_what_is_new (void) {
  uint64_t *list = NULL;
  uint32_t capacity = 0;
  for (uint32_t need = 1; need < 500; need += 37) {
    UNIT_CHECK(tg_grow_zeroed(&list, &capacity, need, sizeof *list));
    UNIT_CHECK(list[need - 1] == 0 && list[capacity - 1] == 0);
    list[need - 1] = need;
  }
  for (uint32_t i = 0; i < capacity; i++)
    UNIT_CHECK(list[i] == (i % 37 == 0 && i < 499 ? i + 1 : 0));
  tg_free(list);
}

static void refuses_what_cannot_be (void) {
  uint8_t *list = NULL;
  uint32_t capacity = 0;
  UNIT_CHECK(tg_grow(&list, &capacity, 1, 1));
  uint8_t *was = list;
  uint32_t had = capacity;
  UNIT_CHECK(!tg_grow(&list, &capacity, UINT32_MAX, 1));
  UNIT_CHECK(!tg_grow(&list, &capacity, UINT32_MAX / 4, SIZE_MAX / 1000));
  tg_alloc_fail(1);
  UNIT_CHECK(!tg_grow(&list, &capacity, had + 1, 1));
  UNIT_CHECK(list == was && capacity == had);
  tg_free(list);
}

/* }================================================================== */

/*
** {==================================================================
** Maps
** ===================================================================
*/

static void check_all (const tg_IntMap *x, const uint32_t *place) {
  size_t count = 0;
  for (uint32_t k = 0; k < KEYS; k++) {
    UNIT_CHECK(tg_intmap_find(x, k * UINT64_C(0x100000001)) == place[k]);
    count += place[k] != TG_INTMAP_NONE;
  }
  UNIT_CHECK(x->count == count);
}

/* Few keys and many drops: in a table that is half full at most they stand
   beside each other all the time. */
static void map_is_as_an_array (void) {
  uint64_t seed = 4711;
  uint32_t place[KEYS];
  tg_IntMap x = {0};
  memset(place, 0xff, sizeof place);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    uint32_t k = unit_random(&seed) % KEYS;
    uint64_t key = k * UINT64_C(0x100000001);
    if (place[k] != TG_INTMAP_NONE && unit_random(&seed) % 2 == 0) {
      tg_intmap_drop(&x, key);
      place[k] = TG_INTMAP_NONE;
    }
    else {
      place[k] = unit_random(&seed) % TG_INTMAP_NONE;
      UNIT_CHECK(tg_intmap_set(&x, key, place[k]));
    }
    UNIT_CHECK(tg_intmap_find(&x, key) == place[k]);
    if (round % 1000 == 0)
      check_all(&x, place);
    UNIT_CHECK(x.count <= x.capacity / 2);
  }
  check_all(&x, place);
  tg_intmap_free(&x);
  UNIT_CHECK(tg_intmap_find(&x, 0) == TG_INTMAP_NONE);
}

/* Drops make room: a key that is set in its place needs no memory. */
static void map_without_memory (void) {
  tg_IntMap x = {0};
  uint32_t n = 0;
  tg_alloc_fail(2);
  while (n < 1000 && tg_intmap_set(&x, n, n))
    n++;
  UNIT_CHECK(n == 32 && x.capacity == 64);
  for (uint32_t k = 0; k < 1000; k++)
    UNIT_CHECK(tg_intmap_find(&x, k) == (k < n ? k : TG_INTMAP_NONE));
  tg_intmap_drop(&x, 0);
  tg_alloc_fail(1);
  UNIT_CHECK(tg_intmap_set(&x, 5000, 1) && tg_intmap_find(&x, 5000) == 1);
  tg_alloc_fail(0);
  tg_intmap_free(&x);
}

/* }================================================================== */

/*
** {==================================================================
** Strings
** ===================================================================
*/

/* Bytes of a few kinds and lengths, so that many come again; some are the
   beginnings of others, some have zeros. */
static size_t random_text (uint64_t *seed, char *to) {
  size_t size = unit_random(seed) % 20;
  for (size_t i = 0; i < size; i++)
    to[i] = "ab\0c"[unit_random(seed) % (size > 6 ? 1 : 4)];
  return size;
}

static uint32_t find_slowly (const tg_Intern *n, const char *s, size_t size) {
  uint32_t i = 0;
  for (; i < n->count; i++) {
    size_t its;
    const char *bytes = tg_intern_get(n, i, &its);
    if (its == size && (size == 0 || memcmp(bytes, s, size) == 0))
      return i;
  }
  return TG_INTMAP_NONE;
}

static void each_string_once (void) {
  uint64_t seed = 1;
  tg_Intern n = {0};
  for (uint32_t round = 0; round < 5000; round++) {
    char s[20];
    size_t size = random_text(&seed, s);
    uint32_t count = n.count, known = find_slowly(&n, s, size);
    UNIT_CHECK(tg_intern_find(&n, s, size) == known);
    uint32_t i = tg_intern_add(&n, s, size);
    UNIT_CHECK(i == (known != TG_INTMAP_NONE ? known : count));
    UNIT_CHECK(n.count == count + (known == TG_INTMAP_NONE));
  }
  UNIT_CHECK(n.count > 500);
  tg_intern_free(&n);
}

/* The hash goes eight bytes at a time: what the first eight of a string have
   made of it is undone by the second eight. The second string is one of the
   same hash as the first, then. */
static uint64_t after_eight (const char *s) {
  uint64_t h = (16 ^ tg_escape_load(s, 8)) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 32;
}

static void strings_of_one_hash (void) {
  tg_Intern n = {0};
  char s[16] = "12345678abcdefgh", other[16];
  UNIT_CHECK(tg_intern_add(&n, s, 16) == 0);
  for (uint32_t i = 1; i < 50; i++) {
    memcpy(other, s, 16);
    other[0] = (char)('A' + i);
    tg_escape_store(other + 8, tg_escape_load(s + 8, 8) ^ after_eight(s)
                               ^ after_eight(other));
    UNIT_CHECK(tg_intern_find(&n, other, 16) == TG_INTMAP_NONE);
    UNIT_CHECK(tg_intern_add(&n, other, 16) == i);
    UNIT_CHECK(n.hashes.count == 1);
    UNIT_CHECK(tg_intern_find(&n, other, 16) == i);
    UNIT_CHECK(tg_intern_find(&n, s, 16) == 0);
  }
  tg_intern_free(&n);
}

/* Whatever is refused, those that are there are found, and no others. That the
   bytes could not grow is an error that stays (buf.h). */
static void strings_without_memory (void) {
  for (uint32_t nth = 1; nth < 30; nth++) {
    tg_Intern n = {0};
    tg_alloc_fail(nth);
    for (uint32_t i = 0; i < 2000; i++) {
      uint32_t count = n.count, number = tg_intern_add(&n, &i, sizeof i);
      UNIT_CHECK(number == count || number == TG_INTMAP_NONE);
      UNIT_CHECK(tg_intern_find(&n, &i, sizeof i) == number);
    }
    tg_alloc_fail(0);
    UNIT_CHECK(n.count >= 1999 || n.bytes.failed);
    tg_intern_free(&n);
  }
}

/* }================================================================== */

/*
** {==================================================================
** Texts
** ===================================================================
*/

#define TEXTS 400u

/* Texts of three lengths that differ in one number somewhere: at the same
   place in memory, one after the other, as a program loads them. */
static size_t nth_text (char *to, uint32_t n) {
  static const size_t sizes[] = {40, 3000, 40000};
  size_t size = sizes[n % 3];
  memset(to, 'x', size);
  memcpy(to + (n % 2 == 0 ? 8 : size - 16), &n, sizeof n);
  return size;
}

static void each_text_once (void) {
  static char text[40000];
  uint64_t seed = 1;
  tg_TextId ids[TEXTS] = {0};
  tg_Texts t = {.most = 4096};
  for (uint32_t round = 0; round < 5000; round++) {
    uint32_t n = (uint32_t)unit_random(&seed) % TEXTS, count = t.count;
    size_t size = nth_text(text, n);
    UNIT_CHECK(tg_texts_find(&t, text, size) == ids[n]);
    tg_TextId id = tg_texts_add(&t, text, size);
    UNIT_CHECK(id == (ids[n] != TG_TEXT_NONE ? ids[n] : count + 1));
    ids[n] = id;
    const tg_Text *x = tg_texts_get(&t, id);
    UNIT_CHECK(x->size == size);
    UNIT_CHECK(memcmp(x->data, text, size < 4096 ? size : 4096) == 0);
  }
  UNIT_CHECK(t.count == TEXTS);
  tg_texts_free(&t);
}

static void texts_without_memory (void) {
  for (uint32_t nth = 1; nth < 30; nth++) {
    tg_Texts t = {0};
    tg_alloc_fail(nth);
    for (uint32_t i = 0; i < 500; i++) {
      const char *s = (const char *)&i;
      uint32_t count = t.count;
      tg_TextId id = tg_texts_add(&t, s, sizeof i);
      UNIT_CHECK(id == count + 1 || id == TG_TEXT_NONE);
      UNIT_CHECK(tg_texts_find(&t, s, sizeof i) == id);
    }
    tg_alloc_fail(0);
    UNIT_CHECK(t.count >= 499);
    tg_texts_free(&t);
  }
}

/* }================================================================== */

int main (void) {
  UNIT_RUN(grows_and_keeps);
  UNIT_RUN(zeroes_what_is_new);
  UNIT_RUN(refuses_what_cannot_be);
  UNIT_RUN(map_is_as_an_array);
  UNIT_RUN(map_without_memory);
  UNIT_RUN(each_string_once);
  UNIT_RUN(strings_of_one_hash);
  UNIT_RUN(strings_without_memory);
  UNIT_RUN(each_text_once);
  UNIT_RUN(texts_without_memory);
  return UNIT_END();
}
