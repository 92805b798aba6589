#include "export/lanes.h"

#include <string.h>

#include "base/alloc.h"

#define FIRST_SIZE 8u

static uint32_t new_lane (tg_Lanes *l, tg_ThreadId thread,
                          tg_FunctionId first) {
  if (l->count == l->capacity) {
    uint32_t n = l->capacity > 0 ? l->capacity * 2 : FIRST_SIZE;
    tg_Lane *list = tg_realloc(l->list, n * sizeof *list);
    if (list == NULL)
      return TG_INDEX_NONE;
    l->list = list;
    l->capacity = n;
  }
  if (!tg_index_set(&l->places, thread, l->count))
    return TG_INDEX_NONE;
  l->list[l->count] = (tg_Lane){thread, first};
  return l->count++;
}

uint32_t tg_lanes_of (tg_Lanes *l, tg_ThreadId thread, tg_FunctionId first) {
  if (l->latest < l->count && l->list[l->latest].thread == thread)
    return l->latest;
  uint32_t lane = tg_index_find(&l->places, thread);
  if (lane == TG_INDEX_NONE)
    lane = new_lane(l, thread, first);
  if (lane != TG_INDEX_NONE)
    l->latest = lane;
  return lane;
}

void tg_lanes_free (tg_Lanes *l) {
  tg_free(l->list);
  tg_index_free(&l->places);
  memset(l, 0, sizeof *l);
}
