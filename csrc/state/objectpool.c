/*
** objectpool.c - the slow half of the pool: growing, and being emptied.
**
** Called in the hook, once for each list of captured values. Without memory an
** object is not entered, and its value shown without what is in it.
**
** A slot holds the pool's base plus an object's index: so all slots are free
** again once the base has moved past them, and to empty a pool writes nothing.
** The first few objects are not hashed at all but compared one by one (in the
** header), since most lists have no more.
*/
#include <string.h>

#include "state/objectpool.h"
#include "base/alloc.h"

#define OBJECTS_MIN 64u

/* Those that are there are hashed. */
static void hash_all (tg_ObjectPool *p) {
  uint32_t count = p->count;
  for (p->count = 0; p->count < count; p->count++) {
    uint32_t *slot;
    tg_objectpool_find(p, p->list[p->count].address, &slot);
    *slot = p->base + p->count;
  }
}

/* Both arrays at once: slots are always twice the objects, so a search ends at
   a free one. The new slots are zeros; all objects of the list are entered
   again, and the base begins anew. */
static bool grow (tg_ObjectPool *p) {
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
  p->base = 1;          /* so that zeros are free */
  hash_all(p);
  return true;
}

/* For a packet with more objects than are compared one by one. The first time
   all earlier objects are hashed as well: until then no slot was written. */
uint32_t tg_objectpool_hash (tg_ObjectPool *p, const void *address,
                             uint32_t max, bool *fresh) {
  *fresh = false;
  if (p->count == p->capacity && !grow(p))
    return TG_POOL_NONE;
  if (p->count <= TG_POOL_FEW)
    hash_all(p);
  uint32_t *slot;
  uint32_t id = tg_objectpool_find(p, address, &slot);
  if (id < p->count)
    return id;
  if (p->count >= max)
    return TG_POOL_NONE;
  *slot = p->base + p->count;
  p->list[p->count].address = address;
  *fresh = true;
  return p->count++;
}

/* Nothing is written but the base, however many objects there were. Half the
   numbers are left, so that base + index never wraps. */
void tg_objectpool_clear (tg_ObjectPool *p) {
  tg_assert(p->count <= p->capacity && p->nslots == 2 * p->capacity);
  p->base += p->count;
  p->count = 0;
  if (tg_unlikely(p->base > UINT32_MAX / 2)) {
    memset(p->slots, 0, p->nslots * sizeof *p->slots);
    p->base = 1;
  }
}

void tg_objectpool_free (tg_ObjectPool *p) {
  tg_free(p->list);
  tg_free(p->slots);
  memset(p, 0, sizeof *p);
}
