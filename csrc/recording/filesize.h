/*
** filesize.h - what whoever records is told of the size of his file: while it
** grows, and what takes the room when it is closed.
**
** On standard error, a line each. Of files below TG_FILESIZE_WORTH nothing is
** said. Called on the traced thread, also in the hook; what fails is not told.
*/
#ifndef TG_FILESIZE_H
#define TG_FILESIZE_H

#include "base/base.h"

#define TG_FILESIZE_WORTH (UINT64_C(64) << 20)

typedef struct tg_FileSize {
  bool tells;               /* else nothing is said */
  bool low;                 /* that the disk is nearly full has been said */
} tg_FileSize;

/* How many gigabytes there are in 'to' and were not in 'from': 0, or those that
   it has now. */
uint64_t tg_filesize_passed (uint64_t from, uint64_t to);

/* The file behind 'fd' has grown from so many bytes to so many. */
void tg_filesize_grown (tg_FileSize *z, const char *path, int fd, uint64_t from,
                        uint64_t to);

/* It is as large as it may be. */
void tg_filesize_full (const char *path);

/* It is closed: what takes the room in it. */
void tg_filesize_closed (const char *path);

#endif
