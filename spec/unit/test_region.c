/*
** test_region.c - chunks cut from large pieces of memory: whose they are, what
** is in them, and when the memory goes back. Meant to run under the thread
** sanitizer too.
*/
#include "base/alloc.h"
#include "stream/region.h"
#include "stream/store.h"
#include "unit.h"

#define FEW (TG_REGION_FROM / TG_CHUNK_SIZE)    /* chunks before the first */
#define BLOCKS 8u                               /* chunks that it has */

/* Appends a full chunk of bytes 'byte'; NULL without memory. */
static tg_Chunk *fill (tg_Store *s, int byte) {
  tg_Chunk *c = tg_store_grow(s, 1, 0);
  if (c == NULL)
    return NULL;
  memset(c->block->data, byte, c->size - sizeof *c->block);
  tg_block_commit(c->block, (uint8_t *)c->block + c->size);
  return c;
}

/* Whether all that the cursor comes to is as it was filled, from 'byte' on. */
static bool reads (tg_Cursor *c, uint8_t byte) {
  do {
    const uint8_t *data;
    size_t n = tg_cursor_peek(c, &data);
    if (n == 0 || data[0] != byte || data[n - 1] != byte)
      return false;
    byte++;
  } while (tg_cursor_advance(c));
  return true;
}

static void grows (void) {
  tg_Store s;
  tg_Cursor c;
  tg_store_init(&s);
  for (unsigned i = 0; i < FEW + BLOCKS + 1; i++) {
    tg_Supply *before = s.region;
    tg_Chunk *k = fill(&s, (int)i);
    UNIT_CHECK((k->supply == NULL) == (i < FEW) && k->supply == s.region);
    if (i > FEW)
      UNIT_CHECK((before == s.region) == (i < FEW + BLOCKS));
    if (i == 0)
      tg_cursor_place(&c, &s, 0);
  }
  UNIT_CHECK(reads(&c, 0) && c.chunk == s.last);
  tg_cursor_drop(&c);
  tg_store_free(&s);
}

/* A large chunk has pages of its own, a short stream takes no region. */
static void others (void) {
  tg_Store s;
  tg_store_init(&s);
  tg_store_grow(&s, 2 * TG_REGION_FROM, 0);
  UNIT_CHECK(s.region == NULL && s.last->supply == NULL);
  tg_Cursor c;
  tg_cursor_first(&c, &s);
  tg_store_grow(&s, 1, 0);
  UNIT_CHECK(s.region != NULL && s.last->supply == s.region);
  tg_store_grow(&s, 2 * TG_REGION_FROM, 0);
  UNIT_CHECK(s.last->supply == NULL);
  tg_cursor_drop(&c);
  tg_store_free(&s);
}

/* A ring that goes round has the same chunk again and again, region or not. */
static void rings (void) {
  tg_Store s;
  tg_Cursor c;
  tg_store_init(&s);
  for (unsigned i = 0; i < FEW + 3; i++) {
    fill(&s, 'r');
    if (i == 0)
      tg_cursor_place(&c, &s, 0);
  }
  tg_Supply *region = s.region;
  for (int i = 0; i < 100; i++) {
    tg_cursor_advance(&c);
    UNIT_CHECK(s.spare != NULL);
    fill(&s, 'r');
  }
  UNIT_CHECK(s.region == region && s.bytes == (FEW + 3) * TG_CHUNK_SIZE);
  tg_cursor_drop(&c);
  tg_store_free(&s);
}

#ifdef TG_TEST

/* Without a region there are pages; without these no chunk. */
static void refusals (void) {
  for (uint64_t n = 1; n <= 6; n++) {
    tg_Store s;
    tg_Cursor c;
    tg_store_init(&s);
    for (unsigned i = 0; i < FEW; i++) {
      fill(&s, (int)i);
      if (i == 0)
        tg_cursor_place(&c, &s, 0);
    }
    tg_alloc_fail(n);
    tg_Chunk *k = fill(&s, (int)FEW);
    UNIT_CHECK((k == NULL) == (n == 3));
    UNIT_CHECK(k == NULL || (k->supply == NULL) == (n <= 2));
    tg_alloc_fail(0);
    fill(&s, (int)FEW + (k != NULL));
    UNIT_CHECK(s.last->supply != NULL && reads(&c, 0));
    tg_cursor_drop(&c);
    tg_store_free(&s);
  }
}

#endif

int main (void) {
  UNIT_RUN(grows);
  UNIT_RUN(others);
  UNIT_RUN(rings);
#ifdef TG_TEST
  UNIT_RUN(refusals);
#endif
  return UNIT_END();
}
