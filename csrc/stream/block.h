/*
** block.h - the pages of a chunk: the same in memory and in a file.
**
** A block says what it is and how much of it is good, so a file of blocks can
** be read without any index, whatever became of the process that wrote it.
** docs/recording.md has the layout byte by byte. The numbers are those of the
** machine (a recording's header tells the byte order).
*/
#ifndef TG_BLOCK_H
#define TG_BLOCK_H

#include <stdatomic.h>

#include "base/base.h"

#define TG_BLOCK_MAGIC UINT32_C(0x4b4c4254)   /* "TBLK" */

typedef enum tg_BlockKind {
  TG_BLOCK_EVENTS = 1,      /* as event.h describes */
  TG_BLOCK_ENTRIES = 2,     /* as entries.h describes */
  TG_BLOCK_PACKED = 3       /* EVENTS, whose data are packed (packedblock.h); in
                               files alone */
} tg_BlockKind;

typedef struct tg_Block {
  uint32_t magic;
  uint32_t kind;            /* tg_BlockKind */
  uint64_t size;            /* bytes, this header included */
  tg_Pos base;              /* position of data[0] in the stream of its kind */
  uint64_t packets;         /* EVENTS: packets of the stream before it */
  uint32_t unpacked;        /* PACKED: bytes of data that it stands for; EVENTS
                               in a file: TG_BLOCK_STAYS or 0 */
  _Atomic uint32_t used;    /* committed bytes of data */
  uint8_t data[];
} tg_Block;

_Static_assert(sizeof(tg_Block) == 40, "as docs/recording.md has it");

/* The block will not be used again, nor emptied. */
#define TG_BLOCK_STAYS 1u

/* Few bytes may stand for many, but a file that was damaged, or made up, must
   not cost more memory than this times its size. What would is not packed. */
#define TG_BLOCK_RATIO 256u
#define TG_BLOCK_UNPACKED ((size_t)256 << 10)   /* that any may stand for */

TG_INLINE bool tg_block_packs (uint64_t unpacked, uint64_t packed) {
  return unpacked <= TG_BLOCK_UNPACKED || unpacked / TG_BLOCK_RATIO <= packed;
}

/* Makes what comes before 'end' visible to readers, in one store. */
TG_INLINE void tg_block_commit (tg_Block *b, const uint8_t *end) {
  atomic_store_explicit(&b->used, (uint32_t)(end - b->data),
                        memory_order_release);
}

TG_INLINE uint32_t tg_block_used (const tg_Block *b) {
  return atomic_load_explicit(&((tg_Block *)(uintptr_t)b)->used,
                              memory_order_acquire);
}

/* A block without data. Of one that is used again nothing old shows at any
   moment: it is empty before it is something else. */
TG_INLINE void tg_block_begin (tg_Block *b, tg_BlockKind kind, uint64_t size,
                               tg_Pos base, uint64_t packets) {
  tg_block_commit(b, b->data);
  b->kind = (uint32_t)kind;
  b->size = size;
  b->base = base;
  b->packets = packets;
  b->unpacked = 0;
  atomic_thread_fence(memory_order_release);
  b->magic = TG_BLOCK_MAGIC;
}

#endif
