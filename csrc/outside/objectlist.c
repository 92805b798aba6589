/* objectlist.c - see objectlist.h. */
#include "outside/objectlist.h"

#include <string.h>

#include "base/alloc.h"
#include "base/intmap.h"
#include "outside/process.h"

#define BLOCK 65536u
#define BLOCKS 4096u            /* at a time: 256 MiB */
#define READS 16384u            /* all in all: 1 GiB */
#define STEPS (UINT64_C(1) << 24)       /* from one object to the next */
#define TRIES 8                 /* of a process that runs */

/* A part of the memory; each address has one place for it. */
typedef struct Block {
  uint64_t at, size;
  uint8_t *bytes;       /* owns; room for BLOCK */
} Block;

typedef struct Check {
  tg_Sight *s;
  tg_Finds *found;
  tg_IntMap places;     /* owns; of those that are looked for, by address */
  Block *blocks;        /* owns */
  uint32_t missing;     /* how many of these are not met yet */
  uint32_t reads;       /* that may still be done, */
  uint64_t steps;       /* and steps */
} Check;

/* ---- memory ---- */

static bool fill (Check *x, Block *b, uint64_t start, uint64_t end) {
  b->at = start;
  b->size = 0;
  if (x->reads == 0)
    return false;
  x->reads--;
  if (tg_memory_block(x->s->memory, start, b->bytes, (size_t)(end - start)))
    b->size = end - start;
  return b->size != 0;
}

/* What of a block is in one map; where that is not all there, one page. */
static bool read_block (Check *x, Block *b, uint64_t at) {
  const tg_Map *map = tg_maps_find(&x->s->memory->maps, at);
  uint64_t start = at & ~(uint64_t)(BLOCK - 1), end = start + BLOCK;
  if (b->bytes == NULL)
    b->bytes = tg_malloc(BLOCK);
  if (map == NULL || b->bytes == NULL)
    return false;
  start = (start > map->start) ? start : map->start;
  end = (end < map->end) ? end : map->end;
  uint64_t page = at & ~(uint64_t)(TG_PAGE - 1);
  return fill(x, b, start, end) || fill(x, b, page, page + TG_PAGE);
}

static bool read_word (Check *x, uint64_t at, uint64_t *word) {
  Block *b = &x->blocks[at / BLOCK % BLOCKS];
  if (at % 8 != 0 || (at - b->at >= b->size && !read_block(x, b, at)))
    return false;
  memcpy(word, b->bytes + (at - b->at), sizeof *word);
  return true;
}

static void forget (Check *x) {
  for (uint32_t i = 0; i < BLOCKS; i++)
    x->blocks[i].size = 0;
}

/* ---- the list ---- */

static void meet (Check *x, uint64_t at) {
  uint32_t place = tg_intmap_find(&x->places, at);
  if (place == TG_INTMAP_NONE || x->found->list[place].sure)
    return;
  x->found->list[place].sure = true;
  x->missing--;
}

/* Whether all that there are have been met. One that leads to where it has been
   before is met there: the place to meet at is moved further each time. */
static bool follow (Check *x, uint32_t state) {
  uint64_t next, at, been = 0, move = 1;
  uint64_t shared = x->found->shareds[state];
  uint64_t registry = tg_state_registry(x->s, shared);
  uint64_t first = tg_state_objects(x->s, shared, &next);
  if (registry == 0 || !tg_memory_block(x->s->memory, first, &at, sizeof at))
    return false;
  for (uint64_t n = 1; at != registry; n++) {
    if (x->steps == 0 || at == been)
      return false;
    x->steps--;
    if (n == move) {
      been = at;
      move *= 2;
    }
    meet(x, at);
    if (x->missing == 0)
      return true;
    if (!read_word(x, at + next, &at))
      return false;
  }
  return true;
}

/* ---- all states ---- */

static void drop_missing (tg_Finds *found, uint32_t state) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < found->count; i++) {
    if (found->list[i].of != state || found->list[i].sure)
      found->list[n++] = found->list[i];
  }
  found->count = n;
}

/* Where each is that is looked for; false: none is, or without memory. */
static bool list_missing (Check *x, uint32_t state) {
  bool good = true;
  x->missing = 0;
  tg_intmap_free(&x->places);
  x->places = (tg_IntMap){0};
  for (uint32_t i = 0; i < x->found->count && good; i++) {
    const tg_Find *f = &x->found->list[i];
    if (f->of != state || f->sure)
      continue;
    good = tg_intmap_set(&x->places, f->at, i);
    x->missing++;
  }
  return good && x->missing > 0;
}

/* A process that runs changes its list, and makes new memory. */
static void check_state (Check *x, uint32_t state) {
  for (int i = 0; i < TRIES; i++) {
    if (!list_missing(x, state))
      return;
    if (follow(x, state)) {
      drop_missing(x->found, state);
      return;
    }
    if (x->s->memory->pid == 0)
      return;
    tg_process_renew(x->s->memory);
    forget(x);
  }
}

void tg_objectlist_check (tg_Sight *s, tg_Finds *found) {
  Check x = {.s = s, .found = found, .reads = READS, .steps = STEPS};
  x.blocks = tg_calloc(BLOCKS, sizeof *x.blocks);
  for (uint32_t i = 0; i < found->nstates && x.blocks != NULL; i++)
    check_state(&x, i);
  for (uint32_t i = 0; i < BLOCKS && x.blocks != NULL; i++)
    tg_free(x.blocks[i].bytes);
  tg_free(x.blocks);
  tg_intmap_free(&x.places);
}
