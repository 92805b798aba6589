/*
** entries.h - what the tables of an image hold, entry by entry, as fast as
** memory is read; and values as they stand in slots.
**
** The same as tg_seen_next (outside/value.h) does by pages; here are millions.
** Plain C.
*/
#ifndef TG_HEAP_ENTRIES_H
#define TG_HEAP_ENTRIES_H

#include "heap/census.h"
#include "outside/value.h"

typedef struct tg_HeapEntries {
  const tg_Heap *heap;
  uint64_t i, elements;
  uint64_t node, nodes;
  const uint8_t *array, *tags;  /* its slots; in 5.5 values end, tags begin */
  const uint8_t *first;         /* its nodes */
  bool in_array;        /* 'key' is the number 'index' */
  uint64_t index;
  tg_SeenValue key, value;
} tg_HeapEntries;

void tg_heap_traverse (const tg_Heap *h, uint64_t table, tg_HeapEntries *e);

/* The next entry whose value is not nil; false at the end. */
bool tg_heap_next (tg_HeapEntries *e);

/* The value in a slot, nil if there is none. */
tg_SeenValue tg_heap_slot (const tg_Heap *h, uint64_t slot);

/* The object that a value is; TG_NO_OBJECT: it is none. */
uint32_t tg_heap_object (const tg_Heap *h, tg_SeenValue v);

#endif
