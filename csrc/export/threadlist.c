/*
** threadlist.c - see threadlist.h. For the formats that have a place for each
** coroutine; without memory TG_INTMAP_NONE, and the list is as it was.
*/
#include "export/threadlist.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

static uint32_t add_thread (tg_ThreadList *l, tg_ThreadId thread,
                          tg_FunctionId first) {
  if (!tg_grow(&l->list, &l->capacity, l->count + 1, sizeof *l->list))
    return TG_INTMAP_NONE;
  if (!tg_intmap_set(&l->places, thread, l->count))
    return TG_INTMAP_NONE;
  l->list[l->count] = (tg_ThreadEntry){thread, first};
  return l->count++;
}

/* The latest one is asked for again mostly: a hash for each packet would be
   felt in an export of millions. */
uint32_t tg_threadlist_of (tg_ThreadList *l, tg_ThreadId thread,
                           tg_FunctionId first) {
  if (l->latest < l->count && l->list[l->latest].thread == thread)
    return l->latest;
  uint32_t number = tg_intmap_find(&l->places, thread);
  if (number == TG_INTMAP_NONE)
    number = add_thread(l, thread, first);
  tg_assert(number == TG_INTMAP_NONE || l->list[number].thread == thread);
  if (number != TG_INTMAP_NONE)
    l->latest = number;
  return number;
}

void tg_threadlist_free (tg_ThreadList *l) {
  tg_free(l->list);
  tg_intmap_free(&l->places);
  memset(l, 0, sizeof *l);
}
