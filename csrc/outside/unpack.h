/*
** unpack.h - a compressed file as a plain one that has no name: by the tool for
** its kind, which is told when it is missing. Plain C.
*/
#ifndef TG_UNPACK_H
#define TG_UNPACK_H

#include "base/buf.h"

/* The file at 'path' opened for reading, unpacked if it is compressed with
   zstd, lz4, gzip or xz; -1, and 'words' says why. */
int tg_unpack_open (const char *path, tg_Buf *words);

#endif
