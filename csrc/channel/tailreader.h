/*
** tailreader.h - a recording that somebody is writing, read as it grows, as the
** entries that a server would send of it (blockstream.h).
**
** Whoever has one reads now and then, on one thread, while another process
** writes the file. Errors stay: nothing is read after one. Plain C.
*/
#ifndef TG_TAILREADER_H
#define TG_TAILREADER_H

#include "base/buf.h"
#include "recording/fileformat.h"
#include "recording/packedblock.h"

typedef struct tg_TailBlocks {
  uint64_t *places;         /* owns */
  uint32_t count, capacity;
} tg_TailBlocks;

/* Zeroed but for 'path', 'run' and 'fd' it has seen nothing. */
typedef struct tg_TailReader {
  char *path;               /* owns */
  uint32_t run;             /* whose file it is to be; 0: anybody's */
  int fd;                   /* owns; -1: not seen yet */
  tg_Buf out;               /* owns; what is to be given */
  int error;                /* what went wrong, or 0 */
  /* private */
  tg_Header header;
  uint64_t place;           /* where the next block will begin */
  tg_TailBlocks events;     /* of a ring all, else those not read to the end */
  uint64_t low;             /* of a file that is packed: blocks before this
                               place were read, and stay */
  uint64_t entered;         /* the last block of entries in there */
  int tries;                /* to read a packed block that has moved */
  tg_Unpacking unpacking;   /* owns */
  tg_TailBlocks entries;    /* only the last of these still grows */
  uint32_t taken;           /* bytes of the first of these that were given */
  bool begun;               /* a block of events was seen: */
  tg_Pos next;              /* the next event's place */
  tg_Pos chunk;             /* base of the chunk that was told last... */
  uint64_t packets;         /* ...and the packets before it */
} tg_TailReader;

/* Whether the file is there, which is opened once. One that is not, is empty,
   or is an older recording will be replaced: no failure. */
bool tg_tailreader_open (tg_TailReader *t);

/* What is new goes into 't->out', in place of what was there; it may be
   nothing. False: the file cannot be read, 't->error' says why. */
bool tg_tailreader_read (tg_TailReader *t);

/* Whether whoever wrote the file has closed it. */
bool tg_tailreader_is_over (const tg_TailReader *t);

void tg_tailreader_free (tg_TailReader *t);

#endif
