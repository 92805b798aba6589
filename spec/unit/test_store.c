/*
** test_store.c - chunks, pins and cursors; a reader beside the writer; the
** small files below them. Meant to run under the thread sanitizer too.
*/
#include <pthread.h>
#include <time.h>

#include "base/alloc.h"
#include "capture.h"
#include "unit.h"

/* Appends a chunk with 'n' bytes, all 'byte'. */
static tg_Chunk *fill (tg_Store *s, size_t n, int byte) {
  tg_Chunk *c = tg_store_grow(s, n, 7);
  memset(c->block->data, byte, n);
  tg_block_commit(c->block, c->block->data + n);
  return c;
}

static void positions (void) {
  tg_Store s;
  tg_Cursor c;
  const uint8_t *data;
  tg_store_init(&s);
  UNIT_CHECK(!tg_cursor_place(&c, &s, 0) && !tg_cursor_first(&c, &s));
  fill(&s, 100, 'a');
  UNIT_CHECK(tg_cursor_place(&c, &s, 0));
  fill(&s, 50, 'b');
  UNIT_CHECK(s.last->base == 100 && s.last->packets == 7);
  UNIT_CHECK(tg_cursor_peek(&c, &data) == 100 && data[99] == 'a');
  UNIT_CHECK(tg_cursor_advance(&c) && tg_cursor_pos(&c) == 100);
  UNIT_CHECK(tg_cursor_peek(&c, &data) == 50 && data[0] == 'b');
  UNIT_CHECK(!tg_cursor_advance(&c));
  UNIT_CHECK(s.first == s.last);   /* the first was nobody's */
  tg_Cursor d;
  UNIT_CHECK(!tg_cursor_place(&d, &s, 99) && !tg_cursor_place(&d, &s, 151));
  UNIT_CHECK(tg_cursor_place(&d, &s, 150));
  UNIT_CHECK(tg_cursor_peek(&d, &data) == 0);
  tg_cursor_drop(&d);
  tg_cursor_drop(&c);
  tg_cursor_drop(&c);
  tg_store_free(&s);
}

static void pins (void) {
  tg_Store s;
  tg_Cursor a, b;
  tg_store_init(&s);
  fill(&s, 10, 'a');
  tg_cursor_place(&a, &s, 0);
  tg_cursor_copy(&b, &a);
  for (int i = 0; i < 4; i++)
    fill(&s, 10, 'b');
  UNIT_CHECK(s.bytes == 5 * TG_CHUNK_SIZE);
  tg_cursor_advance(&a);
  UNIT_CHECK(s.bytes == 5 * TG_CHUNK_SIZE);
  tg_cursor_drop(&b);
  UNIT_CHECK(s.bytes == 4 * TG_CHUNK_SIZE && s.spare != NULL);
  fill(&s, 10, 'c');
  UNIT_CHECK(s.spare == NULL);
  tg_cursor_drop(&a);
  UNIT_CHECK(s.first == s.last);
  fill(&s, 10, 'd');
  UNIT_CHECK(s.first == s.last && s.bytes == TG_CHUNK_SIZE);
  tg_store_free(&s);
}

/* A loose cursor keeps its chunk; those behind it go when nobody else keeps
   them, and what they had is counted. */
static void loose_pins (void) {
  tg_Store s;
  tg_Cursor ring, slow;
  tg_store_init(&s);
  for (uint64_t i = 0; i < 6; i++) {
    tg_Chunk *c = tg_store_grow(&s, 10, i * i);
    tg_block_commit(c->block, c->block->data + 10);
    if (i == 0)
      tg_cursor_place(&slow, &s, 0);
  }
  tg_cursor_copy(&ring, &slow);
  tg_cursor_loosen(&slow);
  UNIT_CHECK(s.bytes == 6 * TG_CHUNK_SIZE);
  for (int i = 0; i < 4; i++)
    tg_cursor_advance(&ring);
  UNIT_CHECK(s.bytes == 3 * TG_CHUNK_SIZE);
  UNIT_CHECK(tg_cursor_committed(&slow) == 60);
  UNIT_CHECK(tg_cursor_advance(&slow) && slow.missed == 16 - 1);
  UNIT_CHECK(tg_cursor_pos(&slow) == 40 && s.bytes == 2 * TG_CHUNK_SIZE);
  UNIT_CHECK(tg_cursor_advance(&slow) && slow.missed == 0);
  UNIT_CHECK(!tg_cursor_advance(&slow) && s.bytes == 2 * TG_CHUNK_SIZE);
  tg_cursor_drop(&ring);
  UNIT_CHECK(s.bytes == TG_CHUNK_SIZE);
  tg_cursor_drop(&slow);
  tg_store_free(&s);
}

static void large (void) {
  tg_Store s;
  tg_store_init(&s);
  tg_Chunk *c = fill(&s, 1 << 20, 'x');
  UNIT_CHECK(c->size >= (1 << 20) + sizeof *c && c->size % 4096 == 0);
  UNIT_CHECK(tg_store_grow(&s, SIZE_MAX, 0) == NULL && s.last == c);
  UNIT_CHECK(tg_store_grow(&s, UINT32_MAX, 0) == NULL);
  fill(&s, 1, 'y');
  UNIT_CHECK(s.spare == NULL);   /* only standard chunks are kept */
  tg_store_free(&s);
}

/*
** {==================================================================
** A reader beside the writer
** ===================================================================
*/

#define NUMBERS 400000u

static void *write_numbers (void *arg) {
  tg_Store *s = arg;
  tg_Chunk *c = s->last;
  uint8_t *p = c->block->data;
  for (uint32_t i = 0; i < NUMBERS; i++) {
    if (p + 4 > (uint8_t *)c->block + c->size) {
      c = tg_store_grow(s, 4, i);
      p = c->block->data;
    }
    p = tg_put32(p, i);
    tg_block_commit(c->block, p);
  }
  return NULL;
}

/* Reads what is there; returns the next number expected. */
static uint32_t read_numbers (tg_Cursor *c, uint32_t next) {
  const uint8_t *data;
  size_t size = tg_cursor_peek(c, &data);
  for (size_t i = 0; i + 4 <= size; i += 4)
    UNIT_CHECK(tg_get32(data + i) == next++);
  c->offset += (uint32_t)size;
  if (size == 0
      && atomic_load_explicit(&c->chunk->next, memory_order_acquire) != NULL
      && tg_cursor_peek(c, &data) == 0)
    tg_cursor_advance(c);
  return next;
}

static void concurrent (void) {
  tg_Store s;
  tg_Cursor c;
  pthread_t writer;
  tg_store_init(&s);
  tg_store_grow(&s, 4, 0);
  tg_cursor_place(&c, &s, 0);
  pthread_create(&writer, NULL, write_numbers, &s);
  for (uint32_t next = 0; next < NUMBERS && unit_errors == 0; )
    next = read_numbers(&c, next);
  pthread_join(writer, NULL);
  UNIT_CHECK(s.first == s.last);
  tg_cursor_drop(&c);
  tg_store_free(&s);
}

static void *advance_soon (void *arg) {
  struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
  tg_cursor_advance(arg);
  return NULL;
}

static void waiting (void) {
  tg_Store s;
  tg_Cursor c;
  pthread_t other;
  tg_store_init(&s);
  fill(&s, 1, 'a');
  tg_cursor_place(&c, &s, 0);
  fill(&s, 1, 'b');
  UNIT_CHECK(!tg_store_wait(&s, 1000000));
  pthread_create(&other, NULL, advance_soon, &c);
  UNIT_CHECK(tg_store_wait(&s, UINT64_C(10000000000)));
  pthread_join(other, NULL);
  tg_cursor_drop(&c);
  tg_store_free(&s);
}

/* }================================================================== */

static void buffers (void) {
  tg_Buf b = {0};
  tg_buf_addu64(&b, UINT64_MAX);
  tg_buf_addchar(&b, ' ');
  tg_buf_addfmt(&b, "%s %d", "x", -5);
  UNIT_TEXT(&b, "18446744073709551615 x -5");
  for (int i = 0; i < 1000; i++)
    tg_buf_addfmt(&b, "%03d", i);
  UNIT_CHECK(b.size == 3000 && memcmp(b.data + 2997, "999", 3) == 0);
  UNIT_CHECK(!tg_buf_reserve(&b, SIZE_MAX) && b.failed);
  tg_buf_addstr(&b, "no more");
  UNIT_CHECK(b.size == 3000);
  tg_buf_free(&b);
}

static void clocks (void) {
  tg_Clock c, d;
  tg_clock_setup();
  uint64_t before = tg_clock_monotonic_ns();
  tg_clock_start(&c);
  struct timespec pause = {0, 30000000};
  nanosleep(&pause, NULL);
  uint64_t ns = tg_clock_ns(&c, tg_clock_ticks());
  uint64_t real = tg_clock_monotonic_ns() - before;
  UNIT_CHECK(ns <= real + real / 100 && ns + 10000000 > 30000000);
  UNIT_CHECK(tg_clock_ns(&c, c.origin - 1) == 0);
  tg_clock_start(&d);
  UNIT_CHECK(d.ns_per_tick > c.ns_per_tick * 0.99);
  UNIT_CHECK(d.ns_per_tick < c.ns_per_tick * 1.01);
}

static void definitions (void) {
  tg_Stream *s = tg_stream_new();
  tg_FunctionId id = 0;
  for (uint32_t i = 1; i <= 3 * TG_FUNCTIONS_BLOCK; i++) {
    id = define(s, "f", i);
    UNIT_CHECK(id == i);
  }
  UNIT_CHECK(tg_functions_get(s->functions, 500)->line == 500);
  UNIT_CHECK(tg_functions_find(s->functions, id)->line == id);
  UNIT_CHECK(tg_functions_find(s->functions, id + 1) == NULL);
  UNIT_CHECK(tg_functions_find(s->functions, 0) == NULL);
  UNIT_CHECK(tg_functions_find(s->functions, UINT32_MAX) == NULL);
  UNIT_CHECK(tg_stream_pin(s) == s);
  tg_stream_unpin(s);
  tg_stream_unpin(s);
  tg_stream_unpin(NULL);
}

#ifdef TG_TEST

/* Every request of making and filling a stream is refused once. */
static void refusals (void) {
  for (uint64_t n = 1; n <= 5; n++) {
    tg_alloc_fail(n);
    tg_Stream *s = tg_stream_new();
    tg_Chunk *c = s != NULL ? tg_store_grow(&s->store, 1, 0) : NULL;
    UNIT_CHECK((s == NULL) == (n <= 2) && (c == NULL) == (n <= 4));
    UNIT_CHECK(s == NULL || c != NULL || s->store.last == NULL);
    tg_stream_unpin(s);
  }
  UNIT_CHECK(tg_alloc_fail(0) > 0 && tg_alloc_fail(0) == 0);
}

#endif

int main (void) {
  UNIT_RUN(positions);
  UNIT_RUN(pins);
  UNIT_RUN(loose_pins);
  UNIT_RUN(large);
  UNIT_RUN(concurrent);
  UNIT_RUN(waiting);
  UNIT_RUN(buffers);
  UNIT_RUN(clocks);
  UNIT_RUN(definitions);
#ifdef TG_TEST
  UNIT_RUN(refusals);
#endif
  return UNIT_END();
}
