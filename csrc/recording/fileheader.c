/*
** fileheader.c - see fileheader.h. Nothing here allocates.
*/
#include "recording/fileheader.h"

#include <string.h>
#include <sys/stat.h>

#include "text/fileio.h"

/* What is wrong with the header, NULL if nothing is. */
static const char *header_problem (const tg_Header *h) {
  if (memcmp(h->magic, TG_FORMAT_MAGIC, sizeof h->magic) != 0)
    return "not a recording";
  if (h->order != TG_FORMAT_ORDER)
    return "recorded on a machine with another byte order";
  if (!tg_fileheader_knows(h->version))
    return "recorded by another version of tracegrip";
  bool timed = h->ns_per_tick > 0 && h->ns_per_tick < 1e6;
  return (timed && h->size >= TG_HEADER_LEAST) ? NULL : "a damaged header";
}

/* Fields beyond the header's own size are 0: what stands there is a block. */
static void cut_header (tg_Header *h) {
  if (h->size < sizeof *h)
    memset((char *)h + h->size, 0, sizeof *h - h->size);
}

/* Why a file has no header at all; NULL if it may have one. */
static const char *file_problem (const struct stat *st) {
  if (S_ISDIR(st->st_mode))
    return "a directory, not a recording";
  if (!S_ISREG(st->st_mode))
    return "not a recording";
  return st->st_size == 0 ? "an empty file, not a recording" : NULL;
}

/* The size last: a file that is closed meanwhile has the one that it keeps by
   the time that its header says so. */
tg_Status tg_fileheader_read (int fd, tg_Header *h, uint64_t *bytes,
                              const char **problem) {
  struct stat st;
  if (fstat(fd, &st) != 0)
    return TG_ERR_IO;
  *problem = file_problem(&st);
  if (*problem == NULL)
    *problem = tg_fileio_read(fd, h, sizeof *h, 0) ? header_problem(h)
                                                   : "not a recording";
  if (*problem != NULL)
    return TG_ERR_FORMAT;
  if (fstat(fd, &st) != 0)
    return TG_ERR_IO;
  *bytes = (uint64_t)st.st_size;
  cut_header(h);
  return TG_OK;
}
