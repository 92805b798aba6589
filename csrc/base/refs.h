/*
** refs.h - counts the owners of an object, which is freed with the last owner,
** on whichever thread that is.
*/
#ifndef TG_REFS_H
#define TG_REFS_H

#include <stdatomic.h>

#include "base/base.h"

/* One more. Relaxed is enough: the caller has the object already, or borrows it
   from an owner. */
TG_INLINE void tg_refs_pin (_Atomic uint32_t *refs) {
  uint32_t before = atomic_fetch_add_explicit(refs, 1, memory_order_relaxed);
  tg_assert(before > 0);
  (void)before;
}

/* One less; whether it was the last. Each unpin releases and the last one
   acquires, so whoever frees sees every earlier write. */
TG_INLINE bool tg_refs_unpin (_Atomic uint32_t *refs) {
  uint32_t before = atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel);
  tg_assert(before > 0);
  return before == 1;
}

#endif
