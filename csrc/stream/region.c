/*
** region.c - see region.h. Called by a store, with its mutex held; a region is
** one store's, and freed by whoever lets go of its last block, on any thread.
** Cannot fail but for want of memory.
**
**     |  block  |  block  |  block  |   (not given yet)   |
**      ^ memory                      ^ given
**
** Blocks are given once each. Those that come back stay where they are until
** all have: chunks of a stream go in the order in which they came.
*/
#include "stream/region.h"

#include "base/alloc.h"

#define REGION_SIZE ((size_t)2 << 20)   /* a large page's, on most machines */
#define BLOCKS (REGION_SIZE / TG_CHUNK_SIZE)

typedef struct Region {
  tg_Supply supply;
  uint8_t *memory;      /* owns */
  size_t given;         /* blocks */
} Region;

/* The next block, whose pages are asked for now: not one by one as they are
   written, where the system has no large page to give. */
static tg_Block *obtain_block (tg_Supply *y, size_t least, size_t *size) {
  Region *r = (Region *)y;
  (void)least;
  if (r->given == BLOCKS || *size != TG_CHUNK_SIZE)
    return NULL;
  uint8_t *block = r->memory + r->given++ * TG_CHUNK_SIZE;
  tg_pages_touch(block, TG_CHUNK_SIZE);
  return (tg_Block *)(void *)block;
}

/* Its memory is a part of the region's. */
static void release_block (tg_Supply *y, tg_Block *b, size_t size) {
  (void)y;
  (void)b;
  (void)size;
}

static void free_region (tg_Supply *y) {
  Region *r = (Region *)y;
  tg_pages_free(r->memory, REGION_SIZE);
  tg_free(r);
}

tg_Supply *tg_region_new (void) {
  Region *r = tg_calloc(1, sizeof *r);
  if (r == NULL)
    return NULL;
  r->memory = tg_pages_large(REGION_SIZE);
  if (r->memory == NULL) {
    tg_free(r);
    return NULL;
  }
  r->supply.pins = 1;
  r->supply.memory = true;
  r->supply.obtain = obtain_block;
  r->supply.release = release_block;
  r->supply.free = free_region;
  return &r->supply;
}

bool tg_region_full (const tg_Supply *y) {
  return y == NULL || ((const Region *)y)->given == BLOCKS;
}
