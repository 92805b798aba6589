/*
** fileformat.h - how a recording's file begins, and what follows.
**
**     0        4096                  4096 + size of the first block
**     +--------+---------------------+------------------+----
**     | header | block               | block            | ...
**     +--------+---------------------+------------------+----
**
** A block (block.h) is either events or entries. The first one holds the
** PROGRAM entry. Blocks come in the order in which they were needed, the first
** ones are small; a ring uses those of its oldest events again. Where no block
** is, the file ends, or holds zeros: room that was reserved and not needed.
**
** The header stays mapped while its file is recorded; its 'state' says whether
** that came to an end. docs/recording.md has all of it byte by byte.
*/
#ifndef TG_FILEFORMAT_H
#define TG_FILEFORMAT_H

#include "base/base.h"
#include "stream/block.h"
#include "tick/ticking.h"

#define TG_FORMAT_MAGIC "\211TGREC\r\n"   /* survives no transfer as text */
#define TG_FORMAT_VERSION 6u
#define TG_FORMAT_FIRST 1u      /* the oldest that is read: docs/recording.md
                                   has what came with each */
#define TG_FORMAT_ORDER UINT32_C(0x01020304)
#define TG_HEADER_SIZE 4096u
#define TG_HEADER_LEAST 64u     /* bytes of the fields that were there first */
#define TG_ENTRIES_SIZE ((size_t)64 << 10)   /* of a usual block of entries */
#define TG_ENTRIES_FIRST ((size_t)4 << 10)   /* of the first one... */
#define TG_EVENTS_FIRST ((size_t)32 << 10)   /* ...and of events: a CONTEXT may
                                                take half of it */

/* Bytes of the next block of a kind of which there are 'made': from 'first' on
   by half of that, up to 'usual'. So what is not used of the last one of each
   kind is no more than half of a short file. */
TG_INLINE size_t tg_fileformat_grown (size_t made, size_t first,
                                      size_t usual) {
  size_t size = first == 0 ? usual : first;
  while (size < usual && size <= made / 4)
    size *= 2;
  return size;
}

typedef enum tg_FileState {
  TG_FILE_RUNNING = 0,      /* being recorded, or cut off */
  TG_FILE_COMPLETE = 1,
  TG_FILE_FAILED = 2        /* the file could not grow: 'error' */
} tg_FileState;

typedef struct tg_Header {
  char magic[8];
  uint32_t version;
  uint32_t size;            /* of the header: blocks begin there */
  uint32_t order;           /* TG_FORMAT_ORDER, as this machine writes it */
  uint32_t state;           /* tg_FileState */
  uint32_t error;           /* errno of a failure */
  uint32_t pid;             /* of the process recorded */
  uint64_t wall_ns;         /* time 0 of the recording, since 1970 */
  uint64_t origin;          /* the same in ticks */
  double ns_per_tick;
  uint32_t ring;            /* 1: blocks of events are used again */
  uint32_t run;             /* whose it is (claim.h); 0: of none */
  uint32_t scrubbed;        /* 1: values have been taken out (scrub.h) */
  uint32_t packed;          /* 1: blocks of events that are full are packed, and
                               the room of those used again (packer.h) */
  tg_Ticking ticking;       /* of its samples, as they are now */
} tg_Header;

_Static_assert(sizeof(tg_Header) == 112, "as docs/recording.md has it");

#endif
