/* entries.c - see entries.h. */
#include "heap/entries.h"

#define FIRST_OBJECT 4  /* LUA_TSTRING: 5.1 collects from there on */

static tg_SeenValue value_at (const uint8_t *p) {
  tg_SeenValue v;
  memcpy(&v.bits, p, sizeof v.bits);
  v.tag = p[8];
  return v;
}

tg_SeenValue tg_heap_slot (const tg_Heap *h, uint64_t slot) {
  const uint8_t *p = tg_image_at(h->image, slot, 9);
  return (p != NULL) ? value_at(p) : (tg_SeenValue){0};
}

uint32_t tg_heap_object (const tg_Heap *h, tg_SeenValue v) {
  bool owned = tg_heap_has(h, TAG_OWNED)
               ? (v.tag & h->layout->at[TG_ROW_TAG_OWNED]) != 0
               : v.tag >= FIRST_OBJECT && v.tag <= TG_SEEN_THREAD;
  return owned ? tg_heap_number(h, v.bits) : TG_NO_OBJECT;
}

/* Of 5.5: where values end, going down, and tags begin. */
static void traverse_55 (tg_HeapEntries *e, uint64_t array) {
  const tg_Heap *h = e->heap;
  uint64_t value = tg_heap_row(h, SIZE_VALUE), hint = tg_heap_row(h, SIZE_HINT);
  const uint8_t *p = tg_image_at(h->image, array - e->elements * value,
                                 e->elements * (value + 1) + hint);
  if (p == NULL)
    return;
  e->array = p + e->elements * value;
  e->tags = e->array + hint;
}

void tg_heap_traverse (const tg_Heap *h, uint64_t table, tg_HeapEntries *e) {
  tg_HeapTable t = {0};
  tg_heap_table(h, table, &t);
  *e = (tg_HeapEntries){.heap = h, .elements = t.elements, .nodes = t.nodes};
  if (t.elements > 0 && tg_heap_has(h, SIZE_VALUE))
    traverse_55(e, t.array);
  else if (t.elements > 0)
    e->array = tg_image_at(h->image, t.array,
                           t.elements * tg_heap_row(h, SIZE_SLOT));
  if (t.nodes > 0)
    e->first = tg_image_at(h->image, t.node,
                           t.nodes * tg_heap_row(h, SIZE_NODE));
  if (e->array == NULL)
    e->elements = 0;
  if (e->first == NULL)
    e->nodes = 0;
}

static bool next_element (tg_HeapEntries *e) {
  while (e->i < e->elements) {
    uint64_t i = e->i++;
    if (e->tags != NULL) {
      memcpy(&e->value.bits, e->array - (i + 1) * 8, 8);
      e->value.tag = e->tags[i];
    }
    else
      e->value = value_at(e->array + i * 16);
    if (tg_seen_type(e->value) == TG_SEEN_NIL)
      continue;
    e->in_array = true;
    e->index = e->i;
    e->key = (tg_SeenValue){0};
    return true;
  }
  return false;
}

bool tg_heap_next (tg_HeapEntries *e) {
  const tg_Heap *h = e->heap;
  if (next_element(e))
    return true;
  e->in_array = false;
  while (e->node < e->nodes) {
    const uint8_t *p = e->first + e->node++ * tg_heap_row(h, SIZE_NODE);
    e->value = value_at(p);
    if (tg_seen_type(e->value) == TG_SEEN_NIL)
      continue;
    memcpy(&e->key.bits, p + tg_heap_row(h, AT_NODE_KEY), 8);
    e->key.tag = p[tg_heap_row(h, AT_NODE_TAG)];
    if (tg_seen_type(e->key) != TG_SEEN_OTHER)
      return true;
  }
  return false;
}
