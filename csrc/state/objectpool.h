/*
** objectpool.h - the objects of one packet: the same object is one entry.
**
** Found by address, in order of index; memory is kept from packet to packet.
** The first few are compared one by one; a packet with more has them hashed.
** A slot holds 'base' + index; what is out of range belongs to an earlier
** packet, and is free. So to empty the pool is to move the base.
*/
#ifndef TG_OBJECTPOOL_H
#define TG_OBJECTPOOL_H

#include "base/base.h"

/* An object met while values are captured. */
typedef struct tg_Object {
  const void *address;
  int index;                /* where it stands on the stack; 0: it does not */
  uint32_t level;           /* its distance: 0 = a value of the list itself */
  uint8_t type;             /* tg_ObjectType */
  uint8_t tag;              /* lua_type's; read from memory: its slot's */
  bool brief;               /* it is only named so far, and not written */
  bool examined;            /* what follows is known: */
  uint32_t flags;           /* TG_DESC_*, but for properties; where they say: */
  uint32_t proto;           /* pool index of the metatable, or TG_POOL_NONE */
  uint32_t function;        /* tg_FunctionId */
  const char *cls;          /* borrows from its metatable */
  size_t cls_size;
} tg_Object;

typedef struct tg_ObjectPool {
  tg_Object *list;          /* owns */
  uint32_t count, capacity;
  uint32_t *slots;          /* owns; base + index by hash */
  uint32_t nslots;          /* power of two; twice the capacity */
  uint32_t base;
} tg_ObjectPool;

#define TG_POOL_NONE UINT32_MAX

/* The slow half of tg_objectpool_enter. */
bool tg_objectpool_grow (tg_ObjectPool *p);

#define TG_POOL_FEW 8

/* The index in an address's slot; from 'count' up: the slot is free. */
TG_INLINE uint32_t tg_objectpool_find (const tg_ObjectPool *p, const void
*address, uint32_t **slot) {
  uint64_t k = (uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15);
  uint32_t i = (uint32_t)(k >> 40) & (p->nslots - 1);
  while (p->slots[i] - p->base < p->count
         && p->list[p->slots[i] - p->base].address != address)
    i = (i + 1) & (p->nslots - 1);
  *slot = &p->slots[i];
  return p->slots[i] - p->base;
}

/* The same as tg_objectpool_enter when there are more than a few. */
uint32_t tg_objectpool_hash (tg_ObjectPool *p, const void *address,
                             uint32_t max, bool *fresh);

/*
** Index of the object at 'address', which is added ('*fresh') if it is not
** there and there are less than 'max'; TG_POOL_NONE for want of room or memory.
** Of a fresh entry only the address is set.
*/
TG_INLINE uint32_t tg_objectpool_enter (tg_ObjectPool *p, const void *address,
                                        uint32_t max, bool *fresh) {
  uint32_t n = p->count;
  if (tg_unlikely(n >= TG_POOL_FEW || n >= p->capacity || n >= max))
    return tg_objectpool_hash(p, address, max, fresh);
  *fresh = false;
  for (uint32_t i = 0; i < n; i++) {
    if (p->list[i].address == address)
      return i;
  }
  p->list[n].address = address;
  *fresh = true;
  return p->count++;
}

/* Empty again. */
void tg_objectpool_clear (tg_ObjectPool *p);

void tg_objectpool_free (tg_ObjectPool *p);

#endif
