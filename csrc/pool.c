#include <string.h>

#include "pool.h"
#include "alloc.h"

#define OBJECTS_MIN 64u

TG_INLINE uint32_t home (const tg_Pool *p, const void *address) {
  uint64_t k = (uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15);
  return (uint32_t)(k >> 40) & (p->nslots - 1);
}

/* The slot of an address: with its index, or free. */
TG_INLINE uint32_t *find_slot (const tg_Pool *p, const void *address) {
  uint32_t s = home(p, address);
  while (p->slots[s] != 0 && p->list[p->slots[s] - 1].address != address)
    s = (s + 1) & (p->nslots - 1);
  return &p->slots[s];
}

/* The slots are twice as many as the objects can be. */
static bool grow (tg_Pool *p) {
  uint32_t n = (p->capacity == 0) ? OBJECTS_MIN : p->capacity * 2;
  tg_Object *list = tg_realloc(p->list, n * sizeof *list);
  if (list == NULL)
    return false;
  p->list = list;
  uint32_t *slots = tg_calloc(n * 2, sizeof *slots);
  if (slots == NULL)
    return false;
  tg_free(p->slots);
  p->slots = slots;
  p->nslots = n * 2;
  p->capacity = n;
  for (uint32_t i = 0; i < p->count; i++)
    *find_slot(p, list[i].address) = i + 1;
  return true;
}

uint32_t tg_pool_enter (tg_Pool *p, const void *address, uint32_t max,
                        bool *fresh) {
  *fresh = false;
  if (p->count == p->capacity && !grow(p))
    return TG_POOL_NONE;
  uint32_t *slot = find_slot(p, address);
  if (*slot != 0)
    return *slot - 1;
  if (p->count >= max)
    return TG_POOL_NONE;
  *slot = p->count + 1;
  memset(&p->list[p->count], 0, sizeof *p->list);
  p->list[p->count].address = address;
  *fresh = true;
  return p->count++;
}

/* From the last object to the first, each is the end of its run of slots or
   followed by free ones only, so its slot can simply be freed. */
void tg_pool_clear (tg_Pool *p) {
  while (p->count > 0)
    *find_slot(p, p->list[--p->count].address) = 0;
}

void tg_pool_free (tg_Pool *p) {
  tg_free(p->list);
  tg_free(p->slots);
  memset(p, 0, sizeof *p);
}
