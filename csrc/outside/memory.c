/* memory.c - see memory.h. The pages. */
#include "outside/memory.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

#define RANGES 256u     /* read by one call */
#define PASSING 256u    /* places of pages that are not kept */
#define LINGERS 256u    /* moments for which a page is read unasked, */
#define HASTES 16u      /* and words are read ahead */
#define AHEAD 16u       /* of these, at most */
#define AHEAD_BYTES 32u

typedef struct tg_Page {
  uint64_t at;
  uint8_t *bytes;       /* owns; NULL: it is not there */
  uint8_t *again;       /* owns; the same a little later, at a moment; NULL:
                           never */
  uint32_t read;        /* at which moment, */
  uint32_t asked;       /* and at which it was last wanted fresh; 0: never */
} tg_Page;

/* One that there is no room to keep. */
typedef struct tg_Passing {
  uint64_t at;
  uint64_t age;         /* of the memory when it was read; 0: never */
  uint8_t bytes[TG_PAGE];
} tg_Passing;

/* Bytes of one page that are read before it. */
typedef struct tg_Hasty {
  uint64_t at;
  size_t size;
  uint32_t asked;       /* as of a page */
  uint8_t bytes[AHEAD_BYTES];
} tg_Hasty;

void tg_memory_init (tg_Memory *m, tg_MemoryRead *read) {
  memset(m, 0, sizeof *m);
  m->age = 1;
  m->read = read;
}

void tg_memory_forget (tg_Memory *m) {
  for (uint32_t i = 0; i < m->count; i++) {
    tg_free(m->pages[i].bytes);
    tg_free(m->pages[i].again);
  }
  tg_intmap_free(&m->places);
  memset(&m->places, 0, sizeof m->places);
  m->count = m->nfresh = m->nahead = 0;
  m->age++;
}

void tg_memory_free (tg_Memory *m) {
  tg_memory_forget(m);
  tg_free(m->pages);
  tg_free(m->fresh);
  tg_free(m->passing);
  tg_free(m->ahead);
  m->pages = NULL;
  m->fresh = NULL;
  m->passing = NULL;
  m->ahead = NULL;
  m->capacity = m->fresh_capacity = 0;
  tg_maps_free(&m->maps);
}

bool tg_memory_block (tg_Memory *m, uint64_t at, void *to, size_t size) {
  tg_Range range = {at, to, size};
  return at + size >= at && m->read(m, &range, 1) == 1;
}

/* ---- pages ---- */

static void load (tg_Memory *m, tg_Page *page) {
  page->read = 0;               /* with others, at no moment */
  if (page->bytes == NULL)
    page->bytes = tg_malloc(TG_PAGE);
  if (page->bytes != NULL
      && !tg_memory_block(m, page->at, page->bytes, TG_PAGE)) {
    tg_free(page->bytes);
    page->bytes = NULL;
  }
}

/* Where the place of a page is, if that was asked for of late: a sample asks
   some hundred times for ten pages. */
TG_INLINE uint32_t *recent_of (tg_Memory *m, uint64_t at) {
  return &m->recent[at / TG_PAGE % TG_MEMORY_RECENT];
}

TG_INLINE tg_Page *find_recent (tg_Memory *m, uint64_t at) {
  uint32_t place = *recent_of(m, at);
  bool found = place < m->count && m->pages[place].at == at;
  return found ? &m->pages[place] : NULL;
}

/* The page at 'at', read if nobody has asked for it before; NULL: there is no
   room to keep it. */
static tg_Page *page_of (tg_Memory *m, uint64_t at) {
  tg_Page *page = find_recent(m, at);
  if (page != NULL)
    return page;
  uint32_t place = tg_intmap_find(&m->places, at);
  if (place == TG_INTMAP_NONE) {
    place = m->count;
    if (place >= TG_MEMORY_PAGES
        || !tg_grow(&m->pages, &m->capacity, place + 1, sizeof *m->pages)
        || !tg_intmap_set(&m->places, at, place))
      return NULL;
    m->pages[m->count++] = (tg_Page){.at = at};
    load(m, &m->pages[place]);
  }
  *recent_of(m, at) = place;
  return &m->pages[place];
}

/* The same of a page that is not kept. What is not another process's is read
   without a call of the system. */
static bool get_passing (tg_Memory *m, uint64_t at, uint8_t *to, size_t size) {
  size_t begin = (size_t)(at % TG_PAGE);
  if (m->passing == NULL && m->pid != 0)
    m->passing = tg_calloc(PASSING, sizeof *m->passing);
  if (m->passing == NULL)
    return tg_memory_block(m, at, to, size);
  tg_Passing *page = &m->passing[at / TG_PAGE % PASSING];
  if (page->age != m->age || page->at != at - begin) {
    page->age = 0;
    page->at = at - begin;
    if (!tg_memory_block(m, page->at, page->bytes, TG_PAGE))
      return false;
    page->age = m->age;
  }
  memcpy(to, page->bytes + begin, size);
  return true;
}

/* What of [at, at + size) is on one page. */
static bool get_part (tg_Memory *m, uint64_t at, uint8_t *to, size_t size) {
  uint64_t start = at & ~(uint64_t)(TG_PAGE - 1);
  const tg_Page *page = page_of(m, start);
  if (page == NULL)
    return get_passing(m, at, to, size);
  if (page->bytes == NULL)
    return false;
  memcpy(to, page->bytes + (at - start), size);
  return true;
}

static TG_NOINLINE bool get_parts (tg_Memory *m, uint64_t at, void *to,
                                   size_t size) {
  uint8_t *p = to;
  for (size_t done = 0; done < size;) {
    size_t part = TG_PAGE - (at + done) % TG_PAGE;
    part = (part < size - done) ? part : size - done;
    if (at + size < at || !get_part(m, at + done, p + done, part)) {
      m->faults++;
      memset(to, 0, size);
      return false;
    }
    done += part;
  }
  return true;
}

/* Of a size that the compiler knows, since that is most of what is asked. */
TG_INLINE bool get (tg_Memory *m, uint64_t at, void *to, size_t size) {
  size_t begin = (size_t)(at % TG_PAGE);
  const tg_Page *page = find_recent(m, at - begin);
  m->work++;
  if (page == NULL || page->bytes == NULL || begin + size > TG_PAGE)
    return get_parts(m, at, to, size);
  memcpy(to, page->bytes + begin, size);
  return true;
}

bool tg_memory_get (tg_Memory *m, uint64_t at, void *to, size_t size) {
  return get(m, at, to, size);
}

uint64_t tg_memory_word (tg_Memory *m, uint64_t at) {
  uint64_t word;
  get(m, at, &word, sizeof word);
  return word;
}

uint32_t tg_memory_half (tg_Memory *m, uint64_t at) {
  uint32_t half;
  get(m, at, &half, sizeof half);
  return half;
}

uint8_t tg_memory_byte (tg_Memory *m, uint64_t at) {
  uint8_t byte;
  get(m, at, &byte, sizeof byte);
  return byte;
}

/* Where a page has gone the list ends before it: the page is passed over, and
   the rest asked for again. */
static void refresh_some (tg_Memory *m, tg_Page **list, const tg_Range *ranges,
                          uint32_t n) {
  for (uint32_t i = 0; i < n;) {
    i += m->read(m, ranges + i, n - i);
    if (i < n) {
      tg_free(list[i]->bytes);
      list[i]->bytes = NULL;
      i++;
    }
  }
}

void tg_memory_refresh (tg_Memory *m) {
  tg_Page *list[RANGES];
  tg_Range ranges[RANGES];
  uint32_t n = 0;
  m->age++;
  for (uint32_t i = 0; i < m->count; i++) {
    if (m->pages[i].bytes == NULL)
      continue;
    list[n] = &m->pages[i];
    ranges[n++] = (tg_Range){m->pages[i].at, m->pages[i].bytes, TG_PAGE};
    if (n == RANGES) {
      refresh_some(m, list, ranges, n);
      n = 0;
    }
  }
  refresh_some(m, list, ranges, n);
}

/* ---- what changes all the time ---- */

static void drop_unhurried (tg_Memory *m) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->nahead; i++) {
    if (m->moment - m->ahead[i].asked <= HASTES)
      m->ahead[kept++] = m->ahead[i];
  }
  m->nahead = kept;
}

static void drop_stale (tg_Memory *m) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->nfresh; i++) {
    tg_Page *page = &m->pages[m->fresh[i]];
    if (m->moment - page->asked <= LINGERS && page->bytes != NULL)
      m->fresh[kept++] = m->fresh[i];
    else
      page->asked = 0;
  }
  m->nfresh = kept;
}

/* What was read ahead is what the first copy of its page says, where that is
   there. */
static void put_ahead (tg_Memory *m, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    tg_Hasty *a = &m->ahead[i];
    uint64_t begin = a->at % TG_PAGE;
    const tg_Page *page = page_of(m, a->at - begin);
    if (page == NULL || page->bytes == NULL || page->read != m->moment)
      continue;
    memcpy(page->bytes + begin, a->bytes, a->size);
  }
}

/* All in one call. Where something has gone it is the pages once more. */
static void read_all (tg_Memory *m, tg_Page **list, const tg_Range *ranges,
                      uint32_t ahead, uint32_t n) {
  uint32_t read = m->read(m, ranges, ahead + n);
  if (read < ahead + n)
    refresh_some(m, list, ranges + ahead, n);
  put_ahead(m, read < ahead ? read : ahead);
}

/* There and back: what is the same in both copies of a page was so when the
   last one was read. */
static void read_twice (tg_Memory *m, const uint32_t *places, uint32_t n,
                        uint32_t ahead) {
  tg_Page *list[RANGES];
  tg_Range all[AHEAD + RANGES], *ranges = all + ahead;
  for (uint32_t i = 0; i < ahead; i++)
    all[i] = (tg_Range){m->ahead[i].at, m->ahead[i].bytes, m->ahead[i].size};
  for (uint32_t i = 0; i < n; i++) {
    tg_Page *page = &m->pages[places[i]];
    page->read = m->moment;
    list[i] = list[2 * n - 1 - i] = page;
    ranges[i] = (tg_Range){page->at, page->bytes, TG_PAGE};
    ranges[2 * n - 1 - i] = (tg_Range){page->at, page->again, TG_PAGE};
  }
  read_all(m, list, all, ahead, 2 * n);
}

void tg_memory_renew (tg_Memory *m) {
  m->moment++;
  m->age++;
  drop_unhurried(m);
  drop_stale(m);
  for (uint32_t i = 0; i < m->nfresh; i += RANGES / 2) {
    uint32_t left = m->nfresh - i;
    read_twice(m, m->fresh + i, left < RANGES / 2 ? left : RANGES / 2,
               i == 0 ? m->nahead : 0);
  }
}

bool tg_memory_settled (tg_Memory *m, uint64_t at, size_t size) {
  const tg_Page *page = page_of(m, at & ~(uint64_t)(TG_PAGE - 1));
  size_t begin = (size_t)(at % TG_PAGE);
  if (page == NULL || page->bytes == NULL || page->again == NULL
      || page->read != m->moment)
    return false;
  if (begin + size > TG_PAGE)
    size = TG_PAGE - begin;
  return memcmp(page->bytes + begin, page->again + begin, size) == 0;
}

uint64_t tg_memory_again (tg_Memory *m, uint64_t at) {
  const tg_Page *page = page_of(m, at & ~(uint64_t)(TG_PAGE - 1));
  size_t begin = (size_t)(at % TG_PAGE);
  uint64_t word = 0;
  if (page != NULL && page->bytes != NULL && page->again != NULL
      && page->read == m->moment && begin + sizeof word <= TG_PAGE)
    memcpy(&word, page->again + begin, sizeof word);
  return word;
}

static bool is_fresh (tg_Memory *m, uint64_t at) {
  tg_Page *page = page_of(m, at);
  if (page == NULL)
    return false;
  if (page->bytes == NULL)
    load(m, page);
  if (page->again == NULL)
    page->again = tg_malloc(TG_PAGE);
  if (page->asked == 0) {
    if (page->again == NULL
        || !tg_grow(&m->fresh, &m->fresh_capacity, m->nfresh + 1,
                    sizeof *m->fresh))
      return false;
    m->fresh[m->nfresh++] = (uint32_t)(page - m->pages);
  }
  page->asked = m->moment;
  return page->read == m->moment;
}

bool tg_memory_fresh (tg_Memory *m, uint64_t at, size_t size) {
  uint64_t first = at & ~(uint64_t)(TG_PAGE - 1);
  bool fresh = true;
  for (uint64_t page = first; page < at + size; page += TG_PAGE)
    fresh = is_fresh(m, page) && fresh;
  return fresh;
}

static tg_Hasty *find_ahead (tg_Memory *m, uint64_t at) {
  for (uint32_t i = 0; i < m->nahead; i++) {
    if (m->ahead[i].at == at)
      return &m->ahead[i];
  }
  return NULL;
}

/* Not read once more if it was not: then what is met often would be preferred
   to what is not. */
void tg_memory_ahead (tg_Memory *m, uint64_t at, size_t size) {
  tg_Hasty *a = find_ahead(m, at);
  if (m->ahead == NULL)
    m->ahead = tg_calloc(AHEAD, sizeof *m->ahead);
  if (m->ahead == NULL || size > AHEAD_BYTES
      || at / TG_PAGE != (at + size - 1) / TG_PAGE)
    return;
  if (a == NULL && m->nahead < AHEAD)
    a = &m->ahead[m->nahead++];
  if (a != NULL)
    *a = (tg_Hasty){.at = at, .size = size, .asked = m->moment};
}
