/*
** grow.c - see grow.h.
**
** On any thread; one at a time for each array. Memory that is refused is told
** by the result, and the array stays as it was.
*/
#include "base/grow.h"

#include <string.h>

#include "base/alloc.h"

#define FIRST_ITEMS 8u    /* few: there may be an array for each coroutine */

/* Copied as bytes, since a 'tg_Node **' may not be used as a 'void **': C has
   one pointer type that fits all objects, but no pointer to it that does (C11,
   6.3.2.3). */
static void *get_pointer (const void *list) {
  void *p;
  memcpy(&p, list, sizeof p);
  return p;
}

/* Doubled, so that n items are copied less than n times in all. The product is
   looked at before it is made: what asks for more than there are addresses is
   refused like any other. */
bool tg_grow_more (void *list, uint32_t *capacity, uint32_t need,
                   size_t size) {
  uint32_t more = *capacity > 0 ? *capacity : FIRST_ITEMS;
  tg_assert(need > *capacity && size > 0);
  tg_assert((*capacity == 0) == (get_pointer(list) == NULL));
  while (more < need && more <= UINT32_MAX / 2)
    more *= 2;
  if (more < need || more > SIZE_MAX / size)
    return false;
  void *bigger = tg_realloc(get_pointer(list), more * size);
  if (bigger == NULL)
    return false;
  memcpy(list, &bigger, sizeof bigger);
  *capacity = more;
  return true;
}

bool tg_grow_zeroed (void *list, uint32_t *capacity, uint32_t need,
                     size_t size) {
  uint32_t before = *capacity;
  if (!tg_grow(list, capacity, need, size))
    return false;
  char *items = get_pointer(list);
  if (*capacity > before)
    memset(items + before * size, 0, (*capacity - before) * size);
  return true;
}
