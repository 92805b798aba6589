/*
** supply.h - where the blocks of a stream's chunks come from, and go to: a
** file, a recording, large pieces of memory. Each kind of supply is a structure
** with a tg_Supply as its first member.
*/
#ifndef TG_SUPPLY_H
#define TG_SUPPLY_H

#include <stdatomic.h>

#include "stream/block.h"
#include "stream/prices.h"

#define TG_CHUNK_SIZE ((size_t)256 << 10)   /* bytes, header included */

/* Of a place what says where in a file that is; the bits above are the
   supply's own. */
#define TG_SUPPLY_PLACE ((UINT64_C(1) << 48) - 1)

/*
** Pinned by its owner, by each chunk that has a block of it and by the store
** that asks it for more; the last unpin frees it. Methods are called with the
** store's mutex held.
*/
typedef struct tg_Supply {
  _Atomic uint32_t pins;
  bool memory;              /* its blocks are memory, and fit to be kept */
  /* An empty block for a new chunk, of at least 'least' bytes; '*size' is the
     usual size, and is set to the block's. NULL: no block can be had. */
  tg_Block *(*obtain) (struct tg_Supply *y, size_t least, size_t *size);
  /* The block at 'place', read; NULL if it cannot be. */
  tg_Block *(*load) (struct tg_Supply *y, uint64_t place, size_t size);
  /* The same will be asked for soon, if whoever reads goes on; the block may be
     made ready by then. NULL is fine. */
  void (*expect) (struct tg_Supply *y, uint64_t place, size_t size);
  /* What the lists in a block cost that is loaded (prices.h), as far as
     somebody has counted; borrows, as long as the block is. Needs no mutex.
     NULL is fine. */
  tg_Prices (*prices) (struct tg_Supply *y, const tg_Block *b);
  /* The store asks for no more. NULL is fine. */
  void (*left) (struct tg_Supply *y);
  /* Nobody needs this block. */
  void (*release) (struct tg_Supply *y, tg_Block *b, size_t size);
  void (*free) (struct tg_Supply *y);
} tg_Supply;

tg_Supply *tg_supply_pin (tg_Supply *y);    /* returns 'y'; NULL is fine */
void tg_supply_unpin (tg_Supply *y);        /* NULL is fine */

#endif
