/*
** packedblock.h - one block PACKED of a recording (block.h), read and unpacked.
**
** What cannot be unpacked, since its bytes are not what they were, is zeros,
** which are no event: reading ends there, as with any other damage.
**
** Plain C; a tg_Unpacking is one thread's at a time.
*/
#ifndef TG_PACKEDBLOCK_H
#define TG_PACKEDBLOCK_H

#include "stream/block.h"
#include "text/zstd.h"

typedef struct tg_Unpacking {
  tg_Zstd zstd;           /* owns */
  uint8_t *packed;        /* owns; bytes before they are unpacked */
  size_t room;            /* of 'packed' */
} tg_Unpacking;

/* The head of the block at 'place', which has 'size' good bytes when it is
   unpacked, itself included. False with errno. */
bool tg_packedblock_head (int fd, uint64_t place, size_t size, tg_Block *head);

/* All memory that unpacking it takes, so that a thread of its own asks for
   none. False with errno. */
bool tg_packedblock_prepare (tg_Unpacking *u, const tg_Block *head);

/* After that: the data of the block, which has its head and room for as many
   as that says. False with errno if they cannot be read. */
bool tg_packedblock_load (tg_Unpacking *u, int fd, uint64_t place,
                          tg_Block *b);

/* Zeroed memory is fine. */
void tg_packedblock_free (tg_Unpacking *u);

#endif
