/*
** census.h - all objects of one Lua state, each once, in the order in which
** they were made.
**
** A state has its objects on lists, the newest first: all of them, those with
** finalizers, those to be finalized, those never collected; up to 5.2 short
** strings stand in the table of strings; upvalues that are open, and in 5.3 all
** of them, are found at coroutines and closures. A bit for eight bytes of
** memory says whether an object begins there, so an address becomes a number by
** counting bits (its rank), with nothing to search: 4 bytes an object for the
** order, and 8 for the address.
**
** Memory that is torn ends a list early and is counted. Plain C.
*/
#ifndef TG_CENSUS_H
#define TG_CENSUS_H

#include "heap/image.h"
#include "outside/sight.h"

typedef enum tg_ObjectKind {
  TG_OBJECT_NONE,
  TG_OBJECT_STRING,
  TG_OBJECT_TABLE,
  TG_OBJECT_LUA,        /* a Lua function */
  TG_OBJECT_C,          /* a C function with upvalues */
  TG_OBJECT_USERDATA,
  TG_OBJECT_THREAD,
  TG_OBJECT_PROTO,
  TG_OBJECT_UPVALUE
} tg_ObjectKind;

/* Side by side, so that a look at both is one wait for memory. */
typedef struct tg_Bits {
  uint64_t set;         /* of 64 eighths, those where an object begins */
  uint64_t rank;        /* how many there are in all before */
} tg_Bits;

typedef struct tg_Heap {
  tg_Image *image;      /* borrows */
  tg_Sight sight;       /* of the image's memory */
  const tg_Layout *layout;
  uint64_t main, shared;        /* the main thread; its global_State */
  uint32_t count, capacity;     /* objects; the oldest is the first */
  uint32_t pending;     /* the first that waits for its finalizer... */
  uint32_t finalized;   /* ...that has one... */
  uint32_t recent;      /* ...of all others; to the end */
  uint64_t *at;         /* owns, as all here; addresses */
  uint8_t *kinds;       /* tg_ObjectKind */
  tg_Bits *bits;        /* by eighth of the image's memory */
  uint32_t *numbers;    /* of the objects, by rank */
  uint64_t eighths;
  uint64_t bytes;       /* of all objects */
  uint8_t by_tag[64];   /* tg_ObjectKind that a tag stands for */
  uint64_t torn;        /* lists that led to what is no object */
  bool failed;          /* no memory, or more objects than 32 bits can number */
} tg_Heap;

/* A row of the layout. */
#define tg_heap_row(h, row) ((uint64_t)(h)->layout->at[TG_ROW_##row])
#define tg_heap_has(h, row) ((h)->layout->at[TG_ROW_##row] >= 0)

#define TG_NO_OBJECT UINT32_MAX

/* Counts the objects of the state with that main thread; false: no memory, or
   there is no such state, and nothing is to be freed. */
bool tg_heap_take (tg_Heap *h, tg_Image *image, const tg_Layout *layout,
                   int release, uint64_t main);

/* Whether the sum of all sizes is what the state says: the image is whole, of
   one moment. */
bool tg_heap_agrees (const tg_Heap *h);

void tg_heap_free (tg_Heap *h);

/* Not __builtin_popcountll: for processors that may have no instruction for it
   that is a call, which looks eight bytes up. */
TG_INLINE uint32_t tg_heap_ones (uint64_t v) {
  v -= v >> 1 & UINT64_C(0x5555555555555555);
  v = (v & UINT64_C(0x3333333333333333))
      + (v >> 2 & UINT64_C(0x3333333333333333));
  v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (uint32_t)(v * UINT64_C(0x0101010101010101) >> 56);
}

/* The number of an address among all eighths; UINT64_MAX: it is not there. */
TG_INLINE uint64_t tg_heap_eighth (const tg_Heap *h, uint64_t at) {
  const tg_Image *image = h->image;
  const tg_Region *r = &image->regions[image->last];
  if (tg_unlikely(at - r->start >= r->end - r->start)
      && (r = tg_image_region(image, at)) == NULL)
    return UINT64_MAX;
  return at % 8 == 0 ? r->base + (at - r->start) / 8 : UINT64_MAX;
}

/* How many objects begin before an eighth. */
TG_INLINE uint64_t tg_heap_rank (const tg_Heap *h, uint64_t eighth) {
  const tg_Bits *b = &h->bits[eighth / 64];
  return b->rank + tg_heap_ones(b->set & ((UINT64_C(1) << eighth % 64) - 1));
}

/* The number of the object at an address; TG_NO_OBJECT: there is none. */
TG_INLINE uint32_t tg_heap_number (const tg_Heap *h, uint64_t at) {
  uint64_t eighth = tg_heap_eighth(h, at);
  if (eighth == UINT64_MAX
      || (h->bits[eighth / 64].set >> eighth % 64 & 1) == 0)
    return TG_NO_OBJECT;
  return h->numbers[tg_heap_rank(h, eighth)];
}

/* Bytes of an object, all its parts; of the state itself, which is what else
   it has: its own block, less the main thread, its table of strings. */
uint64_t tg_heap_size (const tg_Heap *h, uint32_t object);
uint64_t tg_heap_state_size (const tg_Heap *h);

/* Whether 5.1 or 5.2 say in an object's own bits that it is never collected. */
bool tg_heap_is_fixed (const tg_Heap *h, uint32_t object);

/* A table's two parts; of nodes there are 0 where its one is everybody's. */
typedef struct tg_HeapTable {
  uint64_t array, elements;     /* an address, and how many */
  uint64_t node, nodes;
} tg_HeapTable;

/* The table at an address; false: it is not there. */
bool tg_heap_table (const tg_Heap *h, uint64_t at, tg_HeapTable *t);

#endif
