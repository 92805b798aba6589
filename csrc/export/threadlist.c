/*
** threadlist.c - see threadlist.h. For the formats that have a place for each
** coroutine; without memory TG_INTMAP_NONE, and the list is as it was.
*/
#include "export/threadlist.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

static uint32_t new_lane (tg_ThreadList *l, tg_ThreadId thread,
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
  uint32_t lane = tg_intmap_find(&l->places, thread);
  if (lane == TG_INTMAP_NONE)
    lane = new_lane(l, thread, first);
  tg_assert(lane == TG_INTMAP_NONE || l->list[lane].thread == thread);
  if (lane != TG_INTMAP_NONE)
    l->latest = lane;
  return lane;
}

void tg_threadlist_free (tg_ThreadList *l) {
  tg_free(l->list);
  tg_intmap_free(&l->places);
  memset(l, 0, sizeof *l);
}
