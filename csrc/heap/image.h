/*
** image.h - the memory that Lua may have objects in, as it was at one moment:
** copied from a process or a core, or our own where it lies.
**
** All that is written and private, by region. Whoever asks for an address gets
** a pointer, or NULL where not all of the bytes are in one region: so a read
** costs a comparison, and nothing that an object says leads outside. A
** tg_Memory comes with it, for readers of frames and prototypes (outside/).
**
**     process, stopped ── blocks ──> regions of ours ──┐
**     core ───────────────────────────────────────────>├─> tg_image_at
**     our own, in a forked child: where it is ─────────┘
**
** Plain C, one thread.
*/
#ifndef TG_IMAGE_H
#define TG_IMAGE_H

#include <string.h>

#include "outside/memory.h"

typedef struct tg_Region {
  uint64_t start, end;  /* first */
  const uint8_t *bytes; /* owns, unless the image is borrowed */
  uint64_t base;        /* in eighths, of all regions before (census.h) */
} tg_Region;

typedef struct tg_Image {
  tg_Memory memory;     /* first; reads from here */
  tg_Region *regions;   /* owns; sorted */
  uint32_t count, capacity;
  uint32_t last;        /* the one that was asked last */
  bool borrowed;        /* the memory is this process's own */
  uint64_t low, high;   /* where the heap begins, and what maps are below of */
} tg_Image;

/* Makes room for what a memory has, without reading it yet; false without
   memory. */
bool tg_image_prepare (tg_Image *image, const tg_Memory *from);

/* Copies it, again and again if need be. What is not there stays zeros. */
void tg_image_copy (tg_Image *image, tg_Memory *from);

/* This process's own memory, which must not change any more: a child's. */
bool tg_image_own (tg_Image *image, const tg_Maps *self);

void tg_image_free (tg_Image *image);

/* The slow half of tg_image_at. */
const uint8_t *tg_image_find (tg_Image *image, uint64_t at, uint64_t size);

/* The bytes at an address; NULL: not all of them are there. */
TG_INLINE const uint8_t *tg_image_at (tg_Image *image, uint64_t at,
                                      uint64_t size) {
  if (tg_likely(image->last < image->count)) {
    const tg_Region *r = &image->regions[image->last];
    if (tg_likely(at >= r->start && at < r->end && size <= r->end - at))
      return r->bytes + (at - r->start);
  }
  return tg_image_find(image, at, size);
}

/* The region of an address; NULL: there is none. */
const tg_Region *tg_image_region (const tg_Image *image, uint64_t at);

/* Numbers at an address; 0 where there is nothing. */
TG_INLINE uint64_t tg_image_word (tg_Image *image, uint64_t at) {
  uint64_t word = 0;
  const uint8_t *p = tg_image_at(image, at, sizeof word);
  if (tg_likely(p != NULL))
    memcpy(&word, p, sizeof word);
  return word;
}

TG_INLINE uint32_t tg_image_half (tg_Image *image, uint64_t at) {
  uint32_t half = 0;
  const uint8_t *p = tg_image_at(image, at, sizeof half);
  if (tg_likely(p != NULL))
    memcpy(&half, p, sizeof half);
  return half;
}

TG_INLINE uint8_t tg_image_byte (tg_Image *image, uint64_t at) {
  const uint8_t *p = tg_image_at(image, at, 1);
  return tg_likely(p != NULL) ? *p : 0;
}

#endif
