/*
** prices.h - what the values of a block's events cost, added up ahead.
**
** Whoever gives true times asks of each event what it has cost (costs.h), and
** most of that question is what its list of values cost. Where a thread makes
** the next block ready anyway, it answers that for all of them, and whoever
** reads takes the answers one by one:
**
**     block    | call, list | return | call, list | return, list | ...
**     prices   | 61         |        | 214        | 35           | ...
**
** So they are good only to whoever begins where the block does. What is more
** than fits is TG_PRICES_ASK: he counts that himself.
**
** Plain C, any thread; allocates nothing.
*/
#ifndef TG_PRICES_H
#define TG_PRICES_H

#include "stream/costs.h"

typedef uint16_t tg_ValuePrice;       /* ticks */

#define TG_PRICES_ASK UINT16_MAX

/* How many events of so many bytes have a list, at most: the shortest is a
   return without results, which is a head of three bytes. */
TG_INLINE size_t tg_prices_most (size_t size) {
  return size / 3 + 1;
}

/* Of all events of these bytes, from where a chunk begins. 'to' has room for as
   many as tg_prices_most says. Bytes that are no event end it. */
void tg_prices_count (const tg_Costs *c, const uint8_t *data, size_t size,
                      tg_ValuePrice *to);

#endif
