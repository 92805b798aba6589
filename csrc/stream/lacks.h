/*
** lacks.h - what a stream lacks and none of its events tells, in figures.
**
** Counted on the traced thread where something is lost, in its handlers too,
** and read on any: each figure is one word. A trace has what was lost since it
** began, of the kinds that it can lose.
*/
#ifndef TG_LACKS_H
#define TG_LACKS_H

#include <stdatomic.h>

#include "base/base.h"

/* Which loss of a recording each is says endreason.h. In the order of the
   protocol (blockstream.h): never change it. */
typedef enum tg_Lack {
  TG_LACK_SAMPLES,            /* that were dropped */
  TG_LACK_FUNCTIONS,          /* without a definition of their own */
  TG_LACK_NAMES,              /* that patterns took too long over */
  TG_LACK_UNSEEN,             /* events, for want of memory */
  TG_LACK_MISSED,             /* packets of calls made without our hook */
  TG_NLACKS
} tg_Lack;

typedef struct tg_Lacks {
  _Atomic uint64_t n[TG_NLACKS];
} tg_Lacks;

/* From where a trace counts, and what. */
typedef struct tg_LacksFrom {
  uint64_t n[TG_NLACKS];
  bool counts[TG_NLACKS];
} tg_LacksFrom;

TG_INLINE uint64_t tg_lacks_get (const tg_Lacks *a, tg_Lack which) {
  return atomic_load_explicit(
      &((tg_Lacks *)(uintptr_t)a)->n[which], memory_order_relaxed);
}

TG_INLINE void tg_lacks_add (tg_Lacks *a, tg_Lack which, uint64_t n) {
  atomic_fetch_add_explicit(&a->n[which], n, memory_order_relaxed);
}

/* One more of them. */
TG_INLINE void tg_lacks_count (tg_Lacks *a, tg_Lack which) {
  tg_lacks_add(a, which, 1);
}

/* From now on; 'counts' of 'from' stay as they are. */
TG_INLINE void tg_lacks_from (const tg_Lacks *a, tg_LacksFrom *from) {
  for (int i = 0; i < TG_NLACKS; i++)
    from->n[i] = tg_lacks_get(a, (tg_Lack)i);
}

/* How many since then. */
TG_INLINE uint64_t tg_lacks_since (const tg_Lacks *a, const tg_LacksFrom *from,
                                   tg_Lack which) {
  return from->counts[which] ? tg_lacks_get(a, which) - from->n[which] : 0;
}

#endif
