/*
** supply.h - where the blocks of a stream's chunks come from, and go to: a
** file, a recording, large pieces of memory. Who makes one puts it first into a
** structure of its own.
*/
#ifndef TG_SUPPLY_H
#define TG_SUPPLY_H

#include <stdatomic.h>

#include "stream/block.h"

#define TG_CHUNK_SIZE ((size_t)256 << 10)   /* bytes, header included */

/*
** The first member of whoever supplies blocks. Pinned by its owner, by each
** chunk that has a block of it and by the store that asks it for more; the
** last one to let go frees it. Called with the store's mutex held.
*/
typedef struct tg_Supply {
  _Atomic uint32_t pins;
  bool memory;              /* its blocks are memory, and fit to be kept */
  /* An empty block for a new chunk, of at least 'least' bytes; '*size' is what
     is usual, and is set to what there is. NULL if there can be none. */
  tg_Block *(*obtain) (struct tg_Supply *y, size_t least, size_t *size);
  /* The block at 'place', read; NULL if it cannot be. */
  tg_Block *(*load) (struct tg_Supply *y, uint64_t place, size_t size);
  /* The store asks for no more. NULL is fine. */
  void (*left) (struct tg_Supply *y);
  /* Nobody needs this block. */
  void (*release) (struct tg_Supply *y, tg_Block *b, size_t size);
  void (*free) (struct tg_Supply *y);
} tg_Supply;

tg_Supply *tg_supply_pin (tg_Supply *y);    /* returns 'y'; NULL is fine */
void tg_supply_unpin (tg_Supply *y);        /* NULL is fine */

#endif
