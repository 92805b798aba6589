/*
** rooms.h - empty pieces of a file, and what is packed into them.
**
**     | PACKED | PACKED | empty  |   | empty           |
**
** Rooms are sorted by their place. What is packed goes into the lowest, and has
** no gaps where rooms touch: a block may begin in one and end in the next. For
** new events the highest is given. What a room has behind its last block is an
** empty block of events up to the room's end, which readers pass over, and
** which becomes the next one.
**
** Each step is one store that readers see, so whoever reads the file of a
** process that was killed finds whole blocks (docs/recording.md).
**
** Plain C, in mapped memory; under the mutex of whoever has them (packer.h).
** Without memory to know of a room, that is lost, and nothing else.
*/
#ifndef TG_ROOMS_H
#define TG_ROOMS_H

#include "recording/pieces.h"

typedef struct tg_Rooms {
  tg_Pieces all;          /* maps each, by place */
  uint64_t end;           /* of what is in use and not a room any more */
} tg_Rooms;

/* An empty piece, with a head as tg_block_begin makes it. */
void tg_rooms_add (tg_Rooms *r, const tg_Piece *empty);

/* A piece whose block has been packed. */
void tg_rooms_reuse (tg_Rooms *r, tg_Piece *full);

/* A piece that stays in the file as it is: readers are told. */
void tg_rooms_leave (tg_Rooms *r, const tg_Piece *piece);

/* Bytes of room for so many that are packed. */
size_t tg_rooms_need (size_t packed);

/* Writes the block that 'full' becomes, packed in 'n' bytes; false: there is no
   room for it. */
bool tg_rooms_put (tg_Rooms *r, const tg_Block *full, const uint8_t *data,
                   size_t n);

/* The highest empty one of 'size' bytes, which is no room any more; false:
   there is none, or it is the last and not to be had ('last'). */
bool tg_rooms_take (tg_Rooms *r, size_t size, bool last, tg_Piece *piece);

/* Moves what stands in the highest rooms into lower ones, as far as that goes:
   then the file can be cut off earlier. */
void tg_rooms_settle (tg_Rooms *r);

/* Where the last byte is that is in use, as far as is known here. */
uint64_t tg_rooms_end (const tg_Rooms *r);

/* 'punch' is called for what is empty before 'end', without the heads. */
void tg_rooms_punch (const tg_Rooms *r, uint64_t end,
                     void (*punch) (void *ud, uint64_t place, uint64_t size),
                     void *ud);

void tg_rooms_free (tg_Rooms *r);

#endif
