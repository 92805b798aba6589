/*
** fileio.c - see fileio.h.
**
** Any thread. Files are read and not mapped: one that another program cuts off
** meanwhile gives an error here, and SIGBUS there (mmap(2)).
*/
#include "text/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

#define PIECE ((size_t)64 << 10)

/* All of it or nothing: a file that ends before is EIO. pread may give less
   than was asked for (a signal, a network), so it goes on. */
bool tg_fileio_read (int fd, void *to, size_t size, uint64_t place) {
  uint8_t *p = to;
  while (size > 0) {
    ssize_t n = pread(fd, p, size, (off_t)place);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      errno = n == 0 ? EIO : errno;
      return false;
    }
    tg_assert((size_t)n <= size);
    p += n;
    place += (uint64_t)n;
    size -= (size_t)n;
  }
  return true;
}

/* A write of nothing is no error (pwrite(2)) and is tried again; a full disk is
   ENOSPC, not that. */
bool tg_fileio_write (int fd, const void *data, size_t size, uint64_t place) {
  const uint8_t *p = data;
  while (size > 0) {
    ssize_t n = pwrite(fd, p, size, (off_t)place);
    if (n < 0 && errno != EINTR)
      return false;
    if (n > 0) {
      p += n;
      place += (uint64_t)n;
      size -= (size_t)n;
    }
  }
  return true;
}

/* Until there is nothing more: the size that fstat gives says nothing of the
   files in /proc, and may be old when it is told. */
static bool read_rest (int fd, size_t most, tg_Buf *text) {
  size_t end = text->size + most;
  while (text->size < end && tg_buf_reserve(text, PIECE)) {
    ssize_t n = read(fd, text->data + text->size, PIECE);
    if (n == 0 || (n < 0 && errno != EINTR))
      return n == 0;
    if (n > 0)
      text->size += (size_t)n;
  }
  return false;
}

/* A name may lead to a pipe by now, which has other text each time or none:
   without O_NONBLOCK, opening one waits for somebody to write (fifo(7)). */
bool tg_fileio_text (const char *path, size_t most, tg_Buf *text) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return false;
  bool whole = fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
               && read_rest(fd, most, text);
  close(fd);
  return whole;
}

/* Linux gives a name that begins with "(unreachable)" for a directory outside
   of the process's root (getcwd(3)): nothing could be opened by that. */
char *tg_fileio_directory (void) {
  char path[PATH_MAX];
  bool known = getcwd(path, sizeof path) != NULL && path[0] == '/';
  return known ? tg_strcopy(path) : NULL;
}
