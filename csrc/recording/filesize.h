/*
** filesize.h - tells the user who records how large the file is while it grows,
** and what takes the room in it when it is closed.
**
** On standard error, a line each. Nothing is said of files below
** TG_FILESIZE_WORTH. Called on the traced thread, also in the hook; failures
** are not told.
*/
#ifndef TG_FILESIZE_H
#define TG_FILESIZE_H

#include "base/base.h"

#define TG_FILESIZE_WORTH (UINT64_C(64) << 20)

typedef struct tg_FileSize {
  bool tells;               /* else nothing is said */
  bool low;                 /* that the disk is nearly full has been said */
} tg_FileSize;

/* The gigabytes in 'to', if 'from' had fewer of them; else 0. */
uint64_t tg_filesize_passed (uint64_t from, uint64_t to);

/* The file behind 'fd' has grown from so many bytes to so many. */
void tg_filesize_grown (tg_FileSize *z, const char *path, int fd, uint64_t from,
                        uint64_t to);

/* The file has reached the size that it may have. */
void tg_filesize_full (const char *path);

/* The file is closed: says what takes the room in it. */
void tg_filesize_closed (const char *path);

#endif
