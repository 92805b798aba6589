/*
** eventblocks.h - the blocks of events of a file that is being written: made,
** given back, used again or packed.
**
** A ring's blocks are used again when they are given back; those of other files
** are packed (packer.h), if that is asked for, and else stay as they are. The
** file grows when neither has a block.
**
** Plain C. Owned by a file writer. A block may be given back on any thread, so
** the lists are under the store's mutex (store.h); all else is used on the
** traced thread.
*/
#ifndef TG_EVENTBLOCKS_H
#define TG_EVENTBLOCKS_H

#include "recording/packer.h"

typedef struct tg_EventBlocks {
  tg_MappedFile *file;    /* borrows */
  bool ring;
  tg_Pieces taken;        /* maps each; with cursors or with the writer */
  const tg_Block *current;  /* borrows; of these the one that is written */
  size_t largest;         /* of those that were ever made... */
  size_t made;            /* ...and bytes of all of them */
  tg_Pieces free;         /* maps each; of a ring, to be used again */
  tg_Packer *packer;      /* owns; NULL: blocks stay as they are */
  uint64_t kept;          /* the end of blocks that are no more in any list */
  int starved;            /* why a ring's file could not grow for the last
                             block; 0: it could */
  size_t wanted;          /* of that block */
} tg_EventBlocks;

/* A block of at least 'least' bytes, '*size' if that is possible, and then how
   large it is. NULL with errno; 'starved' is that of a ring for which there is
   no room, and which would go on in a block that is given back. */
tg_Block *tg_eventblocks_obtain (tg_EventBlocks *e, size_t least,
                                 size_t *size);

/* The block is needed no more. Where the stream writes to the file no more it
   stays there as it is. */
void tg_eventblocks_release (tg_EventBlocks *e, tg_Block *b, size_t size,
                             bool running);

/* The stream is about to leave: what waits to be packed is packed now. Without
   the store's mutex. */
void tg_eventblocks_pack (tg_EventBlocks *e);

/* The stream has left: the current block is packed, too. Returns where the last
   bytes of events end. */
uint64_t tg_eventblocks_left (tg_EventBlocks *e);

/* The file is to have that length: what is empty in it takes no room. */
void tg_eventblocks_close (tg_EventBlocks *e, uint64_t length);

/* Lets the packer go: only when no block comes back to it any more, or in a
   child. */
void tg_eventblocks_unpack (tg_EventBlocks *e);

/* In a forked child, after that: what is taken becomes this process's own.
   False if there was no memory for all of it. */
bool tg_eventblocks_abandon (tg_EventBlocks *e);

void tg_eventblocks_free (tg_EventBlocks *e);

#endif
