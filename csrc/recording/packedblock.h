/*
** packedblock.h - the data of a block PACKED (block.h): packed, read and
** unpacked.
**
**     +----------------------+------------------------------+
**     | u32 1 | 4 x u32, u32 | up to 4 frames of Zstandard  |   in columns
**     +----------------------+------------------------------+
**     | one frame                                           |   as they are
**     +-----------------------------------------------------+
**
** In columns (columns.h) they are a quarter smaller: for each column the bytes
** that it has and those of its frame, and then the frames; an empty one has
** none. What is no series of events, gets no smaller, or is more than a usual
** block, is one frame, as all was before version 5. A frame begins with other
** bytes.
**
** What cannot be unpacked, since its bytes are not what they were, is zeros to
** whoever reads the recording, which are no event: reading ends there, as with
** any other damage.
**
** Plain C; a tg_Packing or tg_Unpacking is one thread's at a time. Its memory
** is had once, and again where a block is larger than any before.
*/
#ifndef TG_PACKEDBLOCK_H
#define TG_PACKEDBLOCK_H

#include "stream/block.h"
#include "text/zstd.h"

typedef struct tg_PackMemory {
  uint8_t *data;          /* owns */
  size_t size;
} tg_PackMemory;

typedef struct tg_Packing {
  tg_Zstd zstd;           /* owns */
  tg_PackMemory columns;        /* what is packed... */
  tg_PackMemory packed;         /* ...and packed */
} tg_Packing;

typedef struct tg_Unpacking {
  tg_Zstd zstd;           /* owns */
  tg_PackMemory packed;         /* bytes before they are unpacked... */
  tg_PackMemory columns;        /* ...and joined */
} tg_Unpacking;

/* How many bytes events are in 'p->packed'; 0: they are not to be packed
   (tg_block_packs), or cannot be, without memory or the library. */
size_t tg_packing_pack (tg_Packing *p, const uint8_t *data, size_t size);

/* Zeroed memory is fine. */
void tg_packing_free (tg_Packing *p);

/* The head of the block at 'place', which has 'size' good bytes when it is
   unpacked, itself included. False with errno. */
bool tg_packedblock_head (int fd, uint64_t place, size_t size, tg_Block *head);

/* All memory that it takes to unpack so many bytes, so that a thread of its own
   asks for none. False with errno. */
bool tg_packedblock_prepare (tg_Unpacking *u, size_t packed);

/* After that: the data of the block, which has its head and room for as many
   as that says. False with errno if they cannot be read. */
bool tg_packedblock_load (tg_Unpacking *u, int fd, uint64_t place,
                          tg_Block *b);

/* Without that: the 'unpacked' bytes that the block at 'place' stands for by
   'packed' ones. False with errno; EBADMSG: it does not. */
bool tg_packedblock_data (tg_Unpacking *u, int fd, uint64_t place,
                          size_t packed, uint8_t *to, size_t unpacked);

/* Zeroed memory is fine. */
void tg_packedblock_free (tg_Unpacking *u);

#endif
