/*
** fileheader.h - the header of a file, read and judged: whether the file is a
** recording, and one that can be read here. By whoever opens it, on any thread.
*/
#ifndef TG_FILEHEADER_H
#define TG_FILEHEADER_H

#include "recording/fileformat.h"

/* Whether files of that version can be read. */
TG_INLINE bool tg_fileheader_knows (uint32_t version) {
  return version >= TG_FORMAT_FIRST && version <= TG_FORMAT_VERSION;
}

/* Reads it; '*bytes' is how many the file has. Fields that the file's header
   does not have are 0. TG_ERR_IO with errno, or TG_ERR_FORMAT and '*problem',
   why this is no recording, in words. */
tg_Status tg_fileheader_read (int fd, tg_Header *h, uint64_t *bytes,
                              const char **problem);

#endif
