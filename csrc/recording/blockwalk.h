/*
** blockwalk.h - the blocks of a file, found by walking over their heads.
**
** Each says how long it is, so no index is needed that could be missing when
** the process was killed. Blocks of events are put in order of their place in
** the stream: a ring has used some again, and what was packed stands elsewhere
** (packer.h). Of blocks that say the same one is kept.
**
** While a file is recorded whose blocks are packed, one that was seen may be
** gone a moment later. So its bytes are copied when it is seen, and what was
** empty is looked at once more in the end: all that was in the file when the
** walk began is found, packed or not.
**
** Bytes may be anything: what is no block ends the walk. Plain C, one thread.
*/
#ifndef TG_BLOCKWALK_H
#define TG_BLOCKWALK_H

#include "stream/block.h"

/* A block of events. */
typedef struct tg_FoundBlock {
  tg_Pos base;
  uint64_t packets;
  uint64_t place;         /* of its head in the file */
  uint32_t used;          /* bytes of events */
  uint32_t packed;        /* bytes that they have in the file; 0: as many */
  tg_Block *copy;         /* owns; of one that may go, else NULL */
  uint32_t turn;          /* where somebody writes: another number than that of
                             any other which was found at the same place */
} tg_FoundBlock;

#define TG_BLOCKWALK_TURNS 32768u   /* more than wait to be packed (packer.h) */

typedef struct tg_Hole {
  uint64_t place, end;
} tg_Hole;

typedef struct tg_BlockWalk {
  int fd;                 /* borrows */
  uint64_t bytes;         /* of the file */
  bool moving;            /* it is being recorded, and packed */
  tg_FoundBlock *list;         /* owns; in order when the walk is over */
  uint32_t count, capacity;
  tg_Hole *holes;         /* owns; what may change of a file that is 'moving' */
  uint32_t nholes, choles;
  tg_Status status;       /* sticky: TG_ERR_IO with errno, TG_ERR_MEMORY */
  bool packed;            /* some of it is */
  uint32_t turns;         /* taken so far */
  uint64_t entered;       /* where the last block of entries was */
  const char *damage;     /* what is no block, or NULL... */
  uint64_t damaged;       /* ...and where */
  /* A block of entries, with so many bytes of data behind its head; 'cut': the
     file ends in it. */
  void (*entries) (void *ud, const tg_Block *head, uint64_t place,
                   uint32_t used, bool cut);
  void *ud;               /* borrows */
} tg_BlockWalk;

/* From 'place' on. Zeroed but for 'fd', 'bytes', 'moving', 'entries' and 'ud'
   it has found nothing. */
void tg_blockwalk (tg_BlockWalk *w, uint64_t place);

void tg_blockwalk_free (tg_BlockWalk *w);

/* Whether it can be the head of a block. */
bool tg_blockwalk_plausible (const tg_Block *head);

#endif
