/*
** shelf.h - blocks of an opened recording, loaded while a cursor is in them.
**
** The supply (store.h) of a recording's chunks. Blocks are read into memory and
** never mapped: a file that shrinks or a disk that fails is then an error that
** the reader gets, not a signal that the program does. What is packed is
** unpacked then; what cannot be, since its bytes are not what they were, is
** zeros, which are no event: reading ends there, as with any other damage.
*/
#ifndef TG_SHELF_H
#define TG_SHELF_H

#include "recording/blockwalk.h"
#include "stream/store.h"

/* A supply from this file, of whose descriptor it has a copy. Pinned once, for
   the caller. NULL with errno. */
tg_Supply *tg_shelf_new (int fd);

/* Takes over the copies that the walk has made: they are loaded from there. Of
   a file that is being written it notes which packed blocks there are, since
   they may move. False without memory. */
bool tg_shelf_keep (tg_Supply *y, tg_BlockWalk *w);

/* From now on what lists cost by these, which are copied, is counted ahead of
   whoever reads (prices.h). */
void tg_shelf_count (tg_Supply *y, const tg_Costs *costs);

/* What the store is to ask for: where a block is, and whether it is packed. */
uint64_t tg_shelf_place (const tg_FoundBlock *f);

#endif
