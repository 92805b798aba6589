/*
** open.h - a recording opened: a stream as it was, and what is known of
** its traces.
**
** Opening reads the heads of all blocks, the entries, and the last block of
** events to find where the last complete event ends. Events are read when a
** reader comes to them, a block at a time, into memory: never mapped, so a file
** that shrinks or a disk that fails is an error and not a signal. The bytes may
** come from anywhere: what is not as it should be ends the part that is read,
** 'reason' says so, and all before it is good.
*/
#ifndef TG_OPEN_H
#define TG_OPEN_H

#include "recording/entries.h"
#include "recording/fileformat.h"
#include "stream/stream.h"

typedef struct tg_Recording {
  tg_Stream *stream;        /* pins */
  tg_Header header;
  tg_Program program;       /* owns */
  tg_Misses misses;         /* of samples of another process */
  tg_TraceEntry *traces;    /* owns, in the order in which they started */
  uint32_t count, capacity;
  uint64_t file_bytes;
  uint64_t event_bytes;     /* good ones */
  uint64_t saved_bytes;     /* of those, what blocks that are packed have less
                               in the file */
  uint64_t entry_bytes;     /* of blocks of entries, whole */
  tg_Pos end;               /* of the good events */
  uint64_t ticks;           /* of the last of them */
  bool busy;                /* somebody is recording on it */
  bool shorter;             /* it was complete, and is not any more */
  bool damaged;             /* bytes are not what they should be */
  char reason[160];         /* in words, why there may be no more; "" = whole */
} tg_Recording;

/* Opens 'path'. NULL, with TG_ERR_IO and errno, TG_ERR_MEMORY, or TG_ERR_FORMAT
   and the reason why it is no recording. */
tg_Recording *tg_recording_open (const char *path, tg_Status *status,
                                 char *reason, size_t size);

/* Readers and traces that pin the stream may go on. NULL is fine. */
void tg_recording_close (tg_Recording *r);

#endif
