/*
** known.h - what a reader remembers of each function id: whether its demand
** wants it (decided once), and how often it was entered.
*/
#ifndef TG_KNOWN_H
#define TG_KNOWN_H

#include "options/demand.h"

typedef struct tg_Known {
  uint64_t hits;
  bool asked;           /* the next ones are decided */
  bool wanted;          /* by some member of the demand */
  bool passes;          /* its filter */
  bool yields;          /* it is coroutine.yield */
} tg_Known;

typedef struct tg_KnownList {
  tg_Known *list;       /* owns; by function id */
  uint32_t size;
} tg_KnownList;

/*
** What is known of 'id', asking 'd' if it is new. NULL without memory, and of
** an id that nobody defined.
*/
tg_Known *tg_known_ask (tg_KnownList *all, tg_FunctionId id,
                        const tg_Functions *fs, const tg_Demand *d);

TG_INLINE tg_Known *tg_known_get (tg_KnownList *all, tg_FunctionId id,
                                  const tg_Functions *fs, const tg_Demand *d) {
  if (tg_likely(id < all->size && all->list[id].asked))
    return &all->list[id];
  return tg_known_ask(all, id, fs, d);
}

/* The demand has changed: every function is asked for again. */
void tg_known_reset (tg_KnownList *all, bool keep_hits);

void tg_known_free (tg_KnownList *all);

#endif
