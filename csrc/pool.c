#include <string.h>

#include "pool.h"
#include "alloc.h"

#define LINEAR 32u          /* so many are found faster without the hash */

static uint32_t slot_of (const tg_Pool *p, const void *address) {
  uint64_t k = (uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15);
  return (uint32_t)(k >> 40) & (p->nslots - 1);
}

static uint32_t find_hashed (const tg_Pool *p, const void *address) {
  uint32_t s = slot_of(p, address);
  while (p->slots[s] != 0) {
    uint32_t i = p->slots[s] - 1;
    if (p->list[i].address == address)
      return i;
    s = (s + 1) & (p->nslots - 1);
  }
  return TG_POOL_NONE;
}

uint32_t tg_pool_find (const tg_Pool *p, const void *address) {
  if (p->count > LINEAR)
    return find_hashed(p, address);
  for (uint32_t i = 0; i < p->count; i++) {
    if (p->list[i].address == address)
      return i;
  }
  return TG_POOL_NONE;
}

static void enter (tg_Pool *p, uint32_t i) {
  uint32_t s = slot_of(p, p->list[i].address);
  while (p->slots[s] != 0)
    s = (s + 1) & (p->nslots - 1);
  p->slots[s] = i + 1;
}

/* The hash always has room for all that the list has. */
static bool grow (tg_Pool *p) {
  uint32_t n = (p->capacity == 0) ? 2 * LINEAR : p->capacity * 2;
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
  for (uint32_t i = 0; p->count > LINEAR && i < p->count; i++)
    enter(p, i);
  return true;
}

uint32_t tg_pool_add (tg_Pool *p, const void *address) {
  if (p->count == p->capacity && !grow(p))
    return TG_POOL_NONE;
  uint32_t i = p->count++;
  memset(&p->list[i], 0, sizeof p->list[i]);
  p->list[i].address = address;
  if (p->count == LINEAR + 1) {
    for (uint32_t k = 0; k <= i; k++)
      enter(p, k);
  }
  else if (p->count > LINEAR)
    enter(p, i);
  return i;
}

void tg_pool_clear (tg_Pool *p) {
  if (p->count > LINEAR)
    memset(p->slots, 0, p->nslots * sizeof *p->slots);
  p->count = 0;
}

void tg_pool_free (tg_Pool *p) {
  tg_free(p->list);
  tg_free(p->slots);
  memset(p, 0, sizeof *p);
}
