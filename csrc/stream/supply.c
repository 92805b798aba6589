/*
** supply.c - who holds a supply. Called on any thread; cannot fail.
*/
#include "stream/supply.h"

/* NULL is memory, which needs no pin. */
tg_Supply *tg_supply_pin (tg_Supply *y) {
  if (y != NULL)
    atomic_fetch_add_explicit(&y->pins, 1, memory_order_relaxed);
  return y;
}

/* Each unpin releases and the last one acquires, so whoever frees the supply
   sees every earlier write. */
void tg_supply_unpin (tg_Supply *y) {
  if (y != NULL
      && atomic_fetch_sub_explicit(&y->pins, 1, memory_order_acq_rel) == 1)
    y->free(y);
}
