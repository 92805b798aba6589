/* finder.c - see finder.h. */
#include "outside/finder.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "outside/ownmark.h"
#include "outside/process.h"

#define PAGES 256u              /* of a block */
#define BLOCK ((size_t)PAGES * TG_PAGE)

/* Where a search is: in [heap], which comes first, or behind it. */
typedef struct Place {
  bool behind;
  uint64_t at;
} Place;

typedef struct Search {
  tg_Sight *s;
  tg_Finds *found;
  uint8_t *block;       /* owns */
  uint64_t distance;    /* from the word to what it says */
  bool behind;          /* it is behind [heap] */
  bool again;           /* for coroutines before their main thread alone */
  uint64_t least, span; /* where the global_States are */
  Place mains[TG_FOUND_STATES];
} Search;

void tg_found_free (tg_Finds *found) {
  tg_free(found->list);
  *found = (tg_Finds){0};
}

/* ---- one word ---- */

static bool is_among (const uint64_t *list, uint32_t n, uint64_t word) {
  for (uint32_t i = 0; i < n; i++) {
    if (list[i] == word)
      return true;
  }
  return false;
}

static bool is_before (Place a, Place b) {
  return a.behind != b.behind ? b.behind : a.at < b.at;
}

/* There are few states, mostly one, and all global_States are between two
   addresses: so one comparison is enough of nearly all words. */
static void bound (Search *x) {
  const tg_Finds *found = x->found;
  x->least = UINT64_MAX;
  x->span = 0;
  uint64_t most = 0;
  for (uint32_t i = 0; i < found->nstates; i++) {
    uint64_t shared = found->shareds[i];
    x->least = shared < x->least ? shared : x->least;
    most = shared > most ? shared : most;
  }
  if (found->nstates > 0)
    x->span = most - x->least;
}

static void add_main (Search *x, Place place) {
  tg_SeenState state;
  tg_Finds *found = x->found;
  if (!tg_state_read(x->s, place.at, &state)
      || !tg_state_is_main(x->s, &state)
      || tg_ownmark_is_in(x->s, state.shared))
    return;
  if (found->nstates == TG_FOUND_STATES) {
    found->omitted++;
    return;
  }
  x->mains[found->nstates] = place;
  found->mains[found->nstates] = place.at;
  found->shareds[found->nstates++] = state.shared;
  bound(x);
}

/* Words are searched in order, so none is met twice: those behind a main thread
   the first time, those before it the second time. */
static void add_coroutine (Search *x, Place place, uint32_t of) {
  tg_SeenState state;
  tg_Finds *found = x->found;
  if (is_before(place, x->mains[of]) != x->again
      || is_among(found->mains, found->nstates, place.at)
      || !tg_state_read(x->s, place.at, &state))
    return;
  if (found->count < TG_FOUND_COROUTINES
      && tg_grow(&found->list, &found->capacity, found->count + 1,
                 sizeof *found->list))
    found->list[found->count++] = (tg_Find){.at = place.at, .of = of};
}

/* ---- blocks ---- */

static void look_at_word (Search *x, uint64_t word, uint64_t at) {
  const tg_Finds *found = x->found;
  Place place = {x->behind, at - tg_state_shared_at(x->s)};
  if (!x->again && word == at + x->distance)
    add_main(x, place);
  for (uint32_t i = 0; i < found->nstates; i++) {
    if (word == found->shareds[i])
      add_coroutine(x, place, i);
  }
}

/* A word is hardly ever what is looked for. */
static void search_words (Search *x, uint64_t at, size_t size) {
  const uint8_t *p = x->block;
  const uint8_t *end = p + size;
  uint64_t own = at + x->distance;      /* what a main thread has there */
  x->found->bytes += size;
  for (; p < end; p += 8, own += 8) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    if (tg_unlikely(word == own || word - x->least <= x->span))
      look_at_word(x, word, own - x->distance);
  }
}

/* The parts of a block that are present, each in one piece; where that cannot
   be read, page by page. */
static void search_present (Search *x, uint64_t at, uint32_t pages) {
  if (tg_memory_block(x->s->memory, at, x->block, pages * (size_t)TG_PAGE))
    search_words(x, at, pages * (size_t)TG_PAGE);
  else if (pages > 1) {
    search_present(x, at, pages / 2);
    search_present(x, at + pages / 2 * (uint64_t)TG_PAGE, pages - pages / 2);
  }
}

static void search_block (Search *x, uint64_t at, uint32_t pages) {
  bool present[PAGES];
  tg_Memory *m = x->s->memory;
  if (m->pid != 0)
    tg_process_present(m, at, pages, present);
  else
    memset(present, true, sizeof present);
  for (uint32_t i = 0; i < pages;) {
    uint32_t n = 0;
    while (i + n < pages && present[i + n])
      n++;
    if (n > 0)
      search_present(x, at + i * (uint64_t)TG_PAGE, n);
    i += n + 1;
  }
}

/* Whether there is a main thread behind that place. */
static bool is_wanted (const Search *x, Place place) {
  if (!x->again)
    return true;
  for (uint32_t i = 0; i < x->found->nstates; i++) {
    if (is_before(place, x->mains[i]))
      return true;
  }
  return false;
}

static void search_map (Search *x, const tg_Map *map) {
  for (uint64_t at = map->start;
       at < map->end && is_wanted(x, (Place){x->behind, at}); at += BLOCK) {
    uint64_t left = (map->end - at) / TG_PAGE;
    search_block(x, at, (left < PAGES) ? (uint32_t)left : PAGES);
  }
}

/* A map that is larger than any heap is a sanitizer's shadow or the like, of
   which next to nothing is present: to ask for each page would take hours. */
#define LARGEST (UINT64_C(1) << 38)

static bool may_have_states (const tg_Map *map) {
  return map->end - map->start < LARGEST
         && (map->flags & (TG_MAP_READ | TG_MAP_WRITE))
             == (TG_MAP_READ | TG_MAP_WRITE)
         && (map->flags & (TG_MAP_DEVICE | TG_MAP_STACK)) == 0
         && !((map->flags & TG_MAP_SHARED) != 0 && map->path != NULL);
}

/* [heap] is looked at first: there most states are. */
static void search_maps (Search *x) {
  const tg_Maps *maps = &x->s->memory->maps;
  for (int round = 0; round < 2; round++) {
    x->behind = round != 0;
    for (uint32_t i = 0; i < maps->count; i++) {
      const tg_Map *map = &maps->list[i];
      bool heap = (map->flags & TG_MAP_HEAP) != 0;
      if (heap != x->behind && may_have_states(map))
        search_map(x, map);
    }
  }
}

static bool begin (Search *x, tg_Sight *s, tg_Finds *found) {
  *x = (Search){.s = s, .found = found, .block = tg_malloc(BLOCK)};
  x->distance = tg_state_distance(s);
  bound(x);
  return x->block != NULL;
}

void tg_finder_search (tg_Sight *s, tg_Finds *found) {
  Search x;
  if (begin(&x, s, found)) {
    search_maps(&x);
    x.again = true;
    search_maps(&x);
  }
  tg_free(x.block);
}
