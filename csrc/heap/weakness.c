/* weakness.c - see weakness.h. */
#include "heap/weakness.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "heap/birth.h"
#include "heap/entries.h"

/* "__mode", asked once of each metatable. */
static unsigned mode_of (tg_Heap *h, uint64_t meta) {
  char text[16];
  tg_SeenValue mode = tg_seen_field(&h->sight, meta, "__mode");
  if (tg_seen_type(mode) != TG_SEEN_STRING
      || !tg_seen_name(&h->sight, mode.bits, text, sizeof text))
    return 0;
  return (strchr(text, 'k') != NULL ? TG_WEAK_KEYS : 0)
         | (strchr(text, 'v') != NULL ? TG_WEAK_VALUES : 0);
}

unsigned tg_weakness_mode (tg_Weakness *w, tg_Heap *h, uint32_t table) {
  uint64_t meta = tg_naming_metatable(h, table);
  uint32_t number = meta != 0 ? tg_heap_number(h, meta) : TG_NO_OBJECT;
  if (number == TG_NO_OBJECT)
    return 0;
  uint32_t mode = tg_intmap_find(&w->modes, number);
  if (mode == TG_INTMAP_NONE) {
    mode = mode_of(h, meta);
    tg_intmap_set(&w->modes, number, mode);
  }
  return mode;
}

/* As V8 calls them, so that its front end shows them so. */
static uint32_t pair_name (tg_Naming *n, const tg_Pair *p, uint32_t number) {
  tg_Heap *h = n->heap;
  const tg_Image *i = h->image;
  unsigned long long ids[3];
  const uint32_t objects[3] = {p->key, p->value, p->table};
  char text[200];
  for (int k = 0; k < 3; k++)
    ids[k] = tg_birth_id(i->low, i->high, h->at[objects[k]]);
  int size = snprintf(text, sizeof text, "%u / part of key (key @%llu) -> "
                      "value (value @%llu) pair in WeakMap (table @%llu)",
                      number, ids[0], ids[1], ids[2]);
  return tg_graph_string(n->graph, text, (size_t)size);
}

/* A string as a key is a value like a number: it is not removed. Up to 5.1
   there are no ephemerons: the value is the table's. */
static void add_pairs (tg_Weakness *w, tg_Naming *n, uint32_t table) {
  tg_Heap *h = n->heap;
  tg_HeapEntries e;
  tg_heap_traverse(h, h->at[table], &e);
  while (tg_heap_next(&e)) {
    uint32_t key = e.in_array ? TG_NO_OBJECT : tg_heap_object(h, e.key);
    uint32_t value = tg_heap_object(h, e.value);
    if (key == TG_NO_OBJECT || value == TG_NO_OBJECT
        || h->kinds[key] == TG_OBJECT_STRING)
      continue;
    if (!tg_grow(&w->pairs, &w->capacity, w->count + 1, sizeof *w->pairs)) {
      n->graph->failed = true;
      return;
    }
    w->pairs[w->count] = (tg_Pair){
      .key = key, .table = table, .value = value,
      .next = tg_weakness_pairs(w, key)};
    if (!tg_intmap_set(&w->keys, key, w->count++))
      n->graph->failed = true;
  }
}

bool tg_weakness_find (tg_Weakness *w, tg_Naming *n) {
  tg_Heap *h = n->heap;
  *w = (tg_Weakness){0};
  for (uint32_t i = 0; i < h->count; i++) {
    if (h->kinds[i] == TG_OBJECT_TABLE && h->sight.release >= 50200
        && tg_weakness_mode(w, h, i) == TG_WEAK_KEYS)
      add_pairs(w, n, i);
  }
  w->first = n->graph->strings.count;
  for (uint32_t i = 0; i < w->count; i++)
    w->pairs[i].name = pair_name(n, &w->pairs[i], i + 1);
  w->end = n->graph->strings.count;
  return !n->graph->failed;
}

uint32_t tg_weakness_pairs (const tg_Weakness *w, uint32_t key) {
  uint32_t i = tg_intmap_find(&w->keys, key);
  return (i == TG_INTMAP_NONE) ? TG_NO_PAIR : i;
}

void tg_weakness_free (tg_Weakness *w) {
  tg_intmap_free(&w->modes);
  tg_intmap_free(&w->keys);
  tg_free(w->pairs);
  *w = (tg_Weakness){0};
}
