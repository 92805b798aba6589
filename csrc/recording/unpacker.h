/*
** unpacker.h - a thread that unpacks the block of a recording that is needed
** next, while whoever reads it is still in the one before.
**
**     reader    | block 1      | block 2      | block 3      |
**     unpacker  |   | block 2 |    | block 3 |    | block 4 |
**
** One block is on its way, *ahead*, at a time. It is begun in memory of the
** caller's, who gets that back with it; all other memory is had before, so the
** thread allocates nothing. It reads the file by the caller's descriptor. What
** could not be read, or is not the thread's any more since the process has
** forked, the caller loads himself.
**
** Plain C. Everything under its mutex but the block itself and what unpacks it,
** which are the thread's while it works. The mutex is taken within the store's
** (store.h).
*/
#ifndef TG_UNPACKER_H
#define TG_UNPACKER_H

#include "recording/packedblock.h"
#include "stream/prices.h"

typedef struct tg_Unpacker tg_Unpacker;

/* Of the file 'fd', which it borrows, and so the costs, which are those of its
   stream. The thread comes with the first block. NULL without memory, where
   there is one processor for both, and in a child that has no threads
   (apart.h). Not with a mutex of atfork.h held. */
tg_Unpacker *tg_unpacker_new (int fd, const tg_Costs *costs);

/* Unpacks the block at 'place' into 'b', which has its head and room for its
   data, and then counts what its lists cost into 'prices' (prices.h), which may
   be NULL, until the block is taken. Only while nothing is ahead. False: it
   does not, and both are still the caller's. */
bool tg_unpacker_begin (tg_Unpacker *u, uint64_t place, tg_Block *b,
                        tg_Prices *prices);

/* Whether it is at work. */
bool tg_unpacker_works (tg_Unpacker *u);

/* The block ahead, for which this waits; it is the caller's. '*good': its data
   are there. NULL if nothing is ahead. */
tg_Block *tg_unpacker_take (tg_Unpacker *u, bool *good);

/* Ends the thread. Nothing may be ahead. NULL is fine. */
void tg_unpacker_free (tg_Unpacker *u);

#endif
