/*
** fileio.h - all of it or nothing: bytes at a place of a file, and the text of
** a whole file; and where relative names lead.
**
** A read or a write may come back with less than was asked for, or with
** nothing for a signal's sake (read(2), signal(7)); whoever calls these sees
** neither.
*/
#ifndef TG_FILEIO_H
#define TG_FILEIO_H

#include "base/base.h"
#include "base/buf.h"

/* 'size' bytes from 'place' on; false with errno, EIO if the file ends before
   them. */
bool tg_fileio_read (int fd, void *to, size_t size, uint64_t place);

/* Writes them there; false with errno. */
bool tg_fileio_write (int fd, const void *data, size_t size, uint64_t place);

/* Adds what the file at 'path' has to 'text'; false if it is none or cannot be
   read, or not to its end within 'most' bytes. */
bool tg_fileio_text (const char *path, size_t most, tg_Buf *text);

/* The working directory, owned by the caller; NULL: there is none that has a
   name, or no memory. */
char *tg_fileio_directory (void);

#endif
