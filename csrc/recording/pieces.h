/*
** pieces.h - lists of mapped pieces of a file, each a block of it.
**
** Lists are short, a few blocks that cursors are in or that wait: looked
** through from the beginning. Plain C; whoever has a list says who may use it
** when.
*/
#ifndef TG_PIECES_H
#define TG_PIECES_H

#include "recording/mappedfile.h"
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

/* Maps the next 'size' bytes of the file, zeros, as one more at the end of the
   list; NULL with errno. */
tg_Block *tg_pieces_map (tg_Pieces *all, tg_MappedFile *file, size_t size);

/* The piece with that block; NULL if it is not in the list. */
tg_Piece *tg_pieces_find (const tg_Pieces *all, const tg_Block *block);

/* Takes the piece at an index out of the list, whose order stays. */
tg_Piece tg_pieces_take (tg_Pieces *all, uint32_t index);

/* The smallest that has 'size' bytes; NULL. */
tg_Piece *tg_pieces_smallest (const tg_Pieces *all, size_t size);

/* The end in the file of the last block that has bytes, without the room that
   it does not use; 'end' if that is further. */
uint64_t tg_pieces_end (const tg_Pieces *all, uint64_t end);

/* A copy of a block in its place, which cursors have, of this process alone;
   false without memory: then it is what the file has. */
bool tg_pieces_make_private (const tg_Piece *e);

/* All of them go, and the list. */
void tg_pieces_unmap (tg_Pieces *all);

#endif
