/*
** outfile.c - see outfile.h.
**
** Called by exports, on the thread of whoever exports. The text goes to a
** descriptor of its own (fdwriter.h), through zlib if the name says so; zlib
** allocates by itself, once, when the file is opened. The first errno stays in
** 'error' and later text is dropped.
*/
#include "text/outfile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "text/fdwriter.h"
#include "text/gzip.h"
#include "text/newfile.h"

#define ENOUGH ((size_t)64 << 10)   /* bytes: as much as a pipe takes */

/* Apart from tg_OutFile, so that zlib's header is needed here only. */
typedef struct tg_OutputFile {
  tg_FdWriter fdwriter;   /* owns */
  bool zipped;
  z_stream zip;           /* owns, if zipped */
  uint8_t packed[64 << 10];
} tg_OutputFile;

/* A name that is nothing but the ending is no such file. By the name and not by
   an option: viewers take compressed files, and tell them by it too. */
static bool ends_in_gz (const char *path) {
  size_t n = strlen(path);
  return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

/* False without memory: zlib asks for all it needs now. */
static bool begin_zip (tg_OutputFile *f) {
  f->zipped = true;
  return tg_gzip_begin(&f->zip);
}

/* Standard output is written to by a copy of its descriptor, like any other
   file: closing that leaves the program's own open. */
bool tg_outfile_open (tg_OutFile *o, const char *path) {
  memset(o, 0, sizeof *o);
  bool standard = strcmp(path, "-") == 0;
  int fd = standard ? STDOUT_FILENO : tg_newfile_open(path);
  if (fd < 0)
    return false;
  o->file = tg_calloc(1, sizeof *o->file);
  if (o->file != NULL)
    tg_fdwriter_open(&o->file->fdwriter, fd);
  if (!standard)
    close(fd);
  if (o->file != NULL && ends_in_gz(path) && !begin_zip(o->file)) {
    tg_fdwriter_close(&o->file->fdwriter);
    tg_free(o->file);
    o->file = NULL;
  }
  if (o->file == NULL)
    errno = ENOMEM;
  return o->file != NULL;
}

/* Compresses and writes; with Z_FINISH also what zlib has kept. Room that was
   not filled up means that there is no more to come. */
static bool write_zipped (tg_OutputFile *f, const char *data, size_t size,
                          int flush) {
  f->zip.next_in = (Bytef *)(uintptr_t)data;
  f->zip.avail_in = (uInt)size;
  do {
    f->zip.next_out = f->packed;
    f->zip.avail_out = sizeof f->packed;
    if (deflate(&f->zip, flush) == Z_STREAM_ERROR)
      return false;
    if (!tg_fdwriter_write(&f->fdwriter, (const char *)f->packed,
                           sizeof f->packed - f->zip.avail_out))
      return false;
  } while (f->zip.avail_out == 0);
  return true;
}

/* All of 'text', in parts that zlib can count: avail_in is an unsigned int. */
static void write_text (tg_OutFile *o, int flush) {
  tg_assert(o->file != NULL && o->error == 0);
  tg_OutputFile *f = o->file;
  const char *p = o->text.data;
  size_t left = o->text.size;
  bool ok = !o->text.failed;
  while (ok && f->zipped && left > UINT32_MAX / 2) {
    ok = write_zipped(f, p, UINT32_MAX / 2, Z_NO_FLUSH);
    p += UINT32_MAX / 2;
    left -= UINT32_MAX / 2;
  }
  ok = ok && (f->zipped ? write_zipped(f, p, left, flush)
                        : tg_fdwriter_write(&f->fdwriter, p, left));
  if (!ok)
    o->error = f->fdwriter.error != 0 ? f->fdwriter.error : ENOMEM;
  o->bytes += o->text.size;
  tg_buf_clear(&o->text);
}

/* After an error the text is dropped: nobody will write it. */
bool tg_outfile_flush (tg_OutFile *o) {
  if (o->error == 0)
    write_text(o, Z_NO_FLUSH);
  else
    tg_buf_clear(&o->text);
  return o->error == 0;
}

/* An error turns too: else text would gather that nobody will write. */
bool tg_outfile_turn (tg_OutFile *o) {
  bool turns = o->text.size >= ENOUGH || o->text.failed || o->error != 0;
  return !turns || tg_outfile_flush(o);
}

/* The descriptor is closed also after an error; what is written by then stays,
   for whoever opened the path to remove. */
bool tg_outfile_close (tg_OutFile *o) {
  if (o->error == 0)
    write_text(o, Z_FINISH);
  if (o->file->zipped)
    deflateEnd(&o->file->zip);
  tg_fdwriter_close(&o->file->fdwriter);
  tg_free(o->file);
  tg_buf_free(&o->text);
  o->file = NULL;
  errno = o->error;
  return o->error == 0;
}
