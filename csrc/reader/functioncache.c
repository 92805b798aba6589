/*
** functioncache.c - a growing array by function id.
*/
#include "reader/functioncache.h"

#include <string.h>

#include "base/alloc.h"

#define FIRST_SIZE 64u

static bool grow (tg_FunctionCache *all, tg_FunctionId id) {
  uint32_t size = all->size > 0 ? all->size : FIRST_SIZE;
  while (size <= id)    /* ids end far below 2^31, see functions.h */
    size *= 2;
  tg_CachedFunction *list = tg_realloc(all->list, size * sizeof *list);
  if (list == NULL)
    return false;
  memset(list + all->size, 0, (size - all->size) * sizeof *list);
  all->list = list;
  all->size = size;
  return true;
}

tg_CachedFunction *tg_functioncache_ask (tg_FunctionCache *all,
                                         tg_FunctionId id,
                                         const tg_Functions *fs,
                                         const tg_Selection *d) {
  const tg_Function *f = tg_functions_find(fs, id);
  if (f == NULL || (id >= all->size && !grow(all, id)))
    return NULL;
  tg_CachedFunction *k = &all->list[id];
  k->asked = true;
  k->wanted = tg_selection_wants(d, f);
  k->passes = tg_selection_passes(d, f);
  k->yields = f->role == TG_ROLE_YIELD;
  return k;
}

void tg_functioncache_reset (tg_FunctionCache *all, bool keep_hits) {
  for (uint32_t i = 0; i < all->size; i++) {
    all->list[i].asked = false;
    if (!keep_hits)
      all->list[i].hits = 0;
  }
}

void tg_functioncache_free (tg_FunctionCache *all) {
  tg_free(all->list);
  memset(all, 0, sizeof *all);
}
