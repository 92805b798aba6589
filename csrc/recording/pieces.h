/*
** pieces.h - lists of mapped pieces of a file, each a block of it.
**
** Lists are short, a few blocks that cursors are in or that wait: looked
** through from the beginning. Plain C; whoever has a list says who may use it
** when.
*/
#ifndef TG_PIECES_H
#define TG_PIECES_H

#include "stream/block.h"

#define TG_PIECES_NOWHERE UINT64_MAX

typedef struct tg_Piece {
  tg_Block *block;        /* maps */
  uint64_t place;         /* in the file; TG_PIECES_NOWHERE: it is not there any
                             more, but memory of this process */
  size_t size;
  size_t filled;          /* bytes that packed blocks have of it (packer.h) */
} tg_Piece;

typedef struct tg_Pieces {
  tg_Piece *list;         /* owns */
  uint32_t count, capacity;
} tg_Pieces;

/* At the end of the list; false without memory. */
bool tg_pieces_add (tg_Pieces *all, const tg_Piece *piece);

/* The piece with that block; NULL if it is not in the list. */
tg_Piece *tg_pieces_find (const tg_Pieces *all, const tg_Block *block);

/* Takes the piece at an index out of the list, whose order stays. */
tg_Piece tg_pieces_take (tg_Pieces *all, uint32_t index);

/* The smallest that has 'size' bytes; NULL. */
tg_Piece *tg_pieces_smallest (const tg_Pieces *all, size_t size);

/* All of them go, and the list. */
void tg_pieces_unmap (tg_Pieces *all);

#endif
