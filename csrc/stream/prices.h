/*
** prices.h - what the values of a block's events cost, added up ahead.
**
** Whoever gives true times asks of each event what it has cost (costs.h), and
** most of that question is what its list of values cost. Where a thread makes
** the next block ready anyway, it answers that for the first of them, until
** the block is asked for; and whoever reads takes the answers one by one:
**
**     block    | call, list | return | call, list | return, list | ...
**     prices   | 61         |        | 214        | (not counted yet)
**
** So neither waits for the other, and they are good only to whoever begins
** where the block does. What is more than fits is TG_PRICES_ASK: he counts that
** himself, as he does what is not counted yet.
**
** Plain C, any thread; allocates nothing.
*/
#ifndef TG_PRICES_H
#define TG_PRICES_H

#include <stdatomic.h>

#include "stream/costs.h"

typedef uint16_t tg_ValuePrice;       /* ticks */

#define TG_PRICES_ASK UINT16_MAX

typedef struct tg_Prices {
  tg_ValuePrice *list;          /* of lists to come, in their order... */
  size_t count;                 /* ...so many of them */
} tg_Prices;

/* How many events of so many bytes have a list, at most: the shortest is a
   return without results, which is a head of three bytes. */
TG_INLINE size_t tg_prices_most (size_t size) {
  return size / 3 + 1;
}

/* Of all events of these bytes, from where a chunk begins, until it is
   '*enough'; how many. 'to' has room for as many as tg_prices_most says. Bytes
   that are no event end it. */
size_t tg_prices_count (const tg_Costs *c, const uint8_t *data, size_t size,
                        tg_ValuePrice *to, const atomic_bool *enough);

#endif
