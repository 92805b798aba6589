/* image.c - see image.h. */
#include "heap/image.h"

#include <sys/mman.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "outside/process.h"

#define PAGES TG_PRESENT_MOST   /* that are asked for at once: 2 MiB */
#define MANY (PAGES / 8 * 7)    /* of these, so that few are wasted */
#define RUNS 16u                /* of pages that are there, of these */

/* ---- reading what was copied ---- */

/* Pages of our own memory have what a sanitizer calls out of bounds: the rooms
   between blocks. */
__attribute__((no_sanitize("address")))
static void copy (uint8_t *to, const volatile uint8_t *from, size_t size) {
  for (size_t i = 0; i < size; i++)
    to[i] = from[i];
}

static uint32_t read_image (tg_Memory *m, const tg_Range *list, uint32_t n) {
  tg_Image *image = (tg_Image *)(void *)m;
  for (uint32_t i = 0; i < n; i++) {
    const uint8_t *p = tg_image_at(image, list[i].at, list[i].size);
    if (p == NULL)
      return i;
    if (image->borrowed)
      copy(list[i].to, p, list[i].size);
    else
      memcpy(list[i].to, p, list[i].size);
  }
  return n;
}

const tg_Region *tg_image_region (const tg_Image *image, uint64_t at) {
  return tg_maps_search(image->regions, image->count, sizeof *image->regions,
                        at);
}

const uint8_t *tg_image_find (tg_Image *image, uint64_t at, uint64_t size) {
  const tg_Region *r = tg_image_region(image, at);
  if (r == NULL || size > r->end - at)
    return NULL;
  image->last = (uint32_t)(r - image->regions);
  return r->bytes + (at - r->start);
}

/* ---- which regions ---- */

/* What is larger is addresses that were set aside: a sanitizer's shadow. */
#define REGION_MOST (UINT64_C(1) << 35)

/* A file that several have mapped is nobody's heap. */
static bool is_wanted (const tg_Map *map) {
  bool file = (map->flags & TG_MAP_SHARED) != 0 && map->inode != 0;
  return (map->flags & TG_MAP_WRITE) != 0 && (map->flags & TG_MAP_READ) != 0
         && (map->flags & TG_MAP_DEVICE) == 0 && !file
         && map->end > map->start && map->end - map->start <= REGION_MOST;
}

/* The heap grows up from where it begins, maps go down from the loader: these
   two stay while a process lives, so ids made of them do (birth.h). */
static void take_ends (tg_Image *image, const tg_Maps *maps) {
  for (uint32_t i = 0; i < maps->count; i++) {
    const tg_Map *map = &maps->list[i];
    if ((map->flags & TG_MAP_HEAP) != 0 && image->low == 0)
      image->low = map->start;
    else if ((map->flags & TG_MAP_STACK) == 0 && map->inode != 0)
      image->high = map->end;
  }
}

static bool add_region (tg_Image *image, const tg_Map *map,
                        const uint8_t *bytes) {
  if (!tg_grow(&image->regions, &image->capacity, image->count + 1,
               sizeof *image->regions))
    return false;
  uint64_t base = 0;
  if (image->count > 0) {
    const tg_Region *r = &image->regions[image->count - 1];
    base = r->base + (r->end - r->start) / 8;
  }
  image->regions[image->count++] = (tg_Region){
    .start = map->start, .end = map->end, .bytes = bytes, .base = base};
  return true;
}

/* Pages that nobody touches cost nothing. */
static uint8_t *pages (uint64_t size) {
  void *p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return (p == MAP_FAILED) ? NULL : p;
}

/* Where next to all pages are there, those of the copy are made now, and not
   while the process stands still. */
static void expect_region (const tg_Memory *from, const tg_Region *r) {
  bool present[PAGES];
  uint8_t *to = (uint8_t *)(uintptr_t)r->bytes;
  for (uint64_t at = r->start; r->end - at >= PAGES * TG_PAGE;
       at += PAGES * TG_PAGE) {
    uint32_t there = 0;
    tg_process_present(from, at, PAGES, present);
    for (uint32_t i = 0; i < PAGES; i++)
      there += present[i];
    if (there >= MANY)
      tg_pages_touch(to + (at - r->start), PAGES * TG_PAGE);
  }
}

bool tg_image_prepare (tg_Image *image, const tg_Memory *from) {
  memset(image, 0, sizeof *image);
  tg_memory_init(&image->memory, read_image);
  take_ends(image, &from->maps);
  for (uint32_t i = 0; i < from->maps.count; i++) {
    const tg_Map *map = &from->maps.list[i];
    if (!is_wanted(map))
      continue;
    size_t size = (size_t)(map->end - map->start);
    uint8_t *bytes = pages(size);
    if (bytes == NULL)
      return false;
    if (!add_region(image, map, bytes)) {
      tg_pages_free(bytes, size);
      return false;
    }
    if (from->pid != 0)
      expect_region(from, &image->regions[image->count - 1]);
  }
  return true;
}

bool tg_image_own (tg_Image *image, const tg_Maps *self) {
  memset(image, 0, sizeof *image);
  tg_memory_init(&image->memory, read_image);
  image->borrowed = true;
  take_ends(image, self);
  for (uint32_t i = 0; i < self->count; i++) {
    const tg_Map *map = &self->list[i];
    if (is_wanted(map)
        && !add_region(image, map,
                       (const uint8_t *)(uintptr_t)map->start))
      return false;
  }
  return true;
}

/* ---- copying ---- */

/* Runs of pages that are there, as ranges. */
static uint32_t runs_of (const bool *present, uint32_t n, uint64_t at,
                         uint8_t *to, tg_Range *list) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n;) {
    uint32_t from = i;
    while (i < n && present[i])
      i++;
    if (i > from && count < RUNS)
      list[count++] = (tg_Range){
        at + (uint64_t)from * TG_PAGE, to + (size_t)from * TG_PAGE,
        (size_t)(i - from) * TG_PAGE};
    else if (i > from)          /* many small ones: the rest in one */
      list[RUNS - 1].size = (size_t)(at + (uint64_t)i * TG_PAGE
                                     - list[RUNS - 1].at);
    while (i < n && !present[i])
      i++;
  }
  return count;
}

/* One that cannot be read does not keep the next one from being read. */
static void read_runs (tg_Memory *from, const tg_Range *list, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    i += from->read(from, list + i, n - i);
    if (i >= n)
      return;
    for (size_t k = 0; k + TG_PAGE <= list[i].size; k += TG_PAGE) {
      tg_Range page = {list[i].at + k, list[i].to + k, TG_PAGE};
      from->read(from, &page, 1);
    }
  }
}

static void copy_region (tg_Memory *from, const tg_Region *r) {
  bool present[PAGES];
  tg_Range list[RUNS];
  uint8_t *to = (uint8_t *)(uintptr_t)r->bytes;
  for (uint64_t at = r->start; at < r->end; at += PAGES * TG_PAGE) {
    uint64_t left = (r->end - at) / TG_PAGE;
    uint32_t n = (left < PAGES) ? (uint32_t)left : PAGES;
    memset(present, 1, sizeof present);
    if (from->pid != 0)
      tg_process_present(from, at, n, present);
    uint32_t runs = runs_of(present, n, at, to + (at - r->start), list);
    read_runs(from, list, runs);
  }
}

void tg_image_copy (tg_Image *image, tg_Memory *from) {
  for (uint32_t i = 0; i < image->count; i++)
    copy_region(from, &image->regions[i]);
  tg_memory_forget(&image->memory);
}

void tg_image_free (tg_Image *image) {
  for (uint32_t i = 0; i < image->count && !image->borrowed; i++)
    tg_pages_free((void *)(uintptr_t)image->regions[i].bytes,
                  (size_t)(image->regions[i].end - image->regions[i].start));
  tg_free(image->regions);
  tg_memory_free(&image->memory);
  memset(image, 0, sizeof *image);
}
