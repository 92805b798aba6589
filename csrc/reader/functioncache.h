/*
** functioncache.h - what a reader remembers of each function id: whether its
** selection wants it (decided once), and how often it was entered.
*/
#ifndef TG_FUNCTIONCACHE_H
#define TG_FUNCTIONCACHE_H

#include "options/selection.h"

typedef struct tg_CachedFunction {
  uint64_t hits;
  bool asked;           /* the next ones are decided */
  bool wanted;          /* by some member of the selection */
  bool sampled;         /* where samples show it, the same */
  bool passes;          /* its filter */
  bool yields;          /* it is coroutine.yield */
  bool awaited;         /* some member of the selection waits for its calls */
} tg_CachedFunction;

typedef struct tg_FunctionCache {
  tg_CachedFunction *list; /* owns; by function id */
  uint32_t size;
} tg_FunctionCache;

/*
** What is known of 'id', asking 'd' if it is new. NULL without memory, and of
** an id that nobody defined.
*/
tg_CachedFunction *tg_functioncache_ask (tg_FunctionCache *all,
                                         tg_FunctionId id,
                                         const tg_Functions *fs,
                                         const tg_Selection *d);

TG_INLINE tg_CachedFunction *tg_functioncache_get (tg_FunctionCache *all,
                                                   tg_FunctionId id,
                                                   const tg_Functions *fs,
                                                   const tg_Selection *d) {
  if (tg_likely(id < all->size && all->list[id].asked))
    return &all->list[id];
  return tg_functioncache_ask(all, id, fs, d);
}

/* The selection has changed: every function is asked for again. */
void tg_functioncache_reset (tg_FunctionCache *all, bool keep_hits);

void tg_functioncache_free (tg_FunctionCache *all);

#endif
