/*
** functioncache.c - a growing array by function id.
**
** Called by a framer, on its thread, once for every id and selection. An array
** and no map: ids are given one after the other, from 1.
*/
#include "reader/functioncache.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

/* NULL without memory, or of an id that nobody has defined. Patterns are
   matched here and never again: that may take longer than to read a thousand
   events. */
tg_CachedFunction *tg_functioncache_ask (tg_FunctionCache *all,
                                         tg_FunctionId id,
                                         const tg_Functions *fs,
                                         const tg_Selection *d) {
  const tg_Function *f = tg_functions_find(fs, id);
  if (f == NULL
      || !tg_grow_zeroed(&all->list, &all->size, id + 1, sizeof *all->list))
    return NULL;
  tg_CachedFunction *k = &all->list[id];
  tg_assert(!k->asked);
  k->asked = true;
  k->wanted = tg_selection_wants(d, f);
  k->sampled = tg_selection_samples(d, f);
  k->passes = tg_selection_passes(d, f);
  k->awaited = d->awaits && tg_selection_awaits(d, f);
  k->yields = f->role == TG_ROLE_YIELD;
  return k;
}

/* The selection has changed: what depends on it is asked anew. Hits stay if
   they are still asked for; else they begin at 0 when somebody asks again. */
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
