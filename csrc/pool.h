/*
** pool.h - the objects of one packet: the same object is one entry.
**
** Found by address, in order of index; memory is kept from packet to packet.
*/
#ifndef TG_POOL_H
#define TG_POOL_H

#include "base.h"

/* An object met while values are captured. */
typedef struct tg_Object {
  const void *address;
  int index;                /* where it stands on the stack; 0: it does not */
  uint32_t level;           /* its distance: 0 = a value of the list itself */
  uint32_t function;        /* tg_FunctionId, for functions */
  uint8_t type;             /* tg_ObjectType */
  bool examined;            /* what follows is known */
  bool has_proto;           /* it has a metatable, which is listed: */
  bool cut;                 /* it has one, which is not */
  uint32_t proto;           /* pool index of the metatable, or TG_POOL_NONE */
  const char *cls;          /* borrows from its metatable; NULL = none */
  size_t cls_size;
} tg_Object;

typedef struct tg_Pool {
  tg_Object *list;          /* owns */
  uint32_t count, capacity;
  uint32_t *slots;          /* owns; 1 + index by hash, 0 = free */
  uint32_t nslots;          /* power of two */
} tg_Pool;

#define TG_POOL_NONE UINT32_MAX

/*
** Index of the object at 'address', which is added ('*fresh') if it is not
** there and there are less than 'max'; TG_POOL_NONE for want of room or memory.
*/
uint32_t tg_pool_enter (tg_Pool *p, const void *address, uint32_t max,
                        bool *fresh);

/* Empty again. */
void tg_pool_clear (tg_Pool *p);

void tg_pool_free (tg_Pool *p);

#endif
