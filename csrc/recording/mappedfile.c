/*
** mappedfile.c - see mappedfile.h.
**
** Called by its file writer on the traced thread, in the hook when a chunk is
** full. Whatever the system refuses is false or NULL with errno, and the file
** is as it was.
*/
#include "recording/mappedfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "recording/claim.h"
#include "signal/signals.h"
#include "text/fdwriter.h"
#include "text/fileio.h"
#include "text/newfile.h"

#define STEP (UINT64_C(4) << 20)    /* the file grows by so much */

/*
** {==================================================================
** Opened
** ===================================================================
*/

/* Blocks are mapped one by one, so each begins where a page does. */
size_t tg_mappedfile_page (void) {
  long n = sysconf(_SC_PAGESIZE);
  return n > 4096 ? (size_t)n : 4096;
}

/* A descriptor for 'path', locked; -1 with errno, EEXIST also if somebody else
   records on it. */
static int open_locked (const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                TG_NEWFILE_MODE);
  if (fd < 0)
    return -1;
  int copy = tg_fdwriter_duplicate(fd);
  close(fd);
  if (copy < 0)
    return -1;
  if (flock(copy, LOCK_EX | LOCK_NB) == 0)
    return copy;
  int error = errno == EWOULDBLOCK ? EEXIST : errno;
  close(copy);
  errno = error;
  return -1;
}

/* PATH.PID, and for others of this process PATH.PID-2, PATH.PID-3 ... */
static char *path_of_process (const char *path, int n) {
  size_t size = strlen(path) + 40;
  char *own = tg_malloc(size);
  if (own != NULL && n == 1)
    snprintf(own, size, "%s.%ld", path, (long)getpid());
  else if (own != NULL)
    snprintf(own, size, "%s.%ld-%d", path, (long)getpid(), n);
  return own;
}

#define FILES_MAX 1000      /* of one process */

/* A file for this process alone: the other is taken. */
static void open_own (tg_MappedFile *f, const tg_MappedPath *p) {
  for (int n = 1; f->fd < 0 && errno == EEXIST && n <= FILES_MAX; n++) {
    tg_free(f->path);
    f->path = path_of_process(p->path, n);
    if (f->path != NULL)
      f->fd = tg_claim(f->path, p->run, false);
    else
      errno = ENOMEM;
  }
}

/* The file of that name, or the process's own in its place. */
bool tg_mappedfile_open (tg_MappedFile *f, const tg_MappedPath *p) {
  struct stat st;
  tg_assert(f->fd < 0 && f->path == NULL && f->end == 0);
  f->path = tg_strcopy(p->path);
  if (f->path == NULL || tg_newfile_is_link(p->path)) {
    errno = f->path == NULL ? ENOMEM : ELOOP;
    return false;
  }
  f->fd = p->exclusive ? tg_claim(f->path, p->run, p->force)
                       : open_locked(f->path);
  open_own(f, p);
  if (f->fd < 0 || fstat(f->fd, &st) != 0)
    return false;
  f->device = st.st_dev;
  f->inode = st.st_ino;
  if (!S_ISREG(st.st_mode)) {
    errno = EINVAL;
    return false;
  }
  f->made = ftruncate(f->fd, 0) == 0;
  return f->made;
}

/* Whether the descriptor still is the file, and not another that the program
   has opened after closing ours. */
static bool still_ours (const tg_MappedFile *f) {
  struct stat st;
  return f->fd >= 0 && fstat(f->fd, &st) == 0 && st.st_dev == f->device
         && st.st_ino == f->inode;
}

/* }================================================================== */

/*
** {==================================================================
** Extended and mapped
** ===================================================================
*/

/* Before it gets its length, which may take a moment: a process that is killed
   meanwhile leaves a recording of nothing and not a file of zeros. */
bool tg_mappedfile_begin (const tg_MappedFile *f, const void *data,
                          size_t size) {
  tg_Signals quiet = tg_signals_block(SIGXFSZ);
  ssize_t n = pwrite(f->fd, data, size, 0);
  tg_signals_unblock(&quiet, n < 0 && errno == EFBIG);
  if (n >= 0 && (size_t)n < size)
    errno = ENOSPC;
  return n == (ssize_t)size;
}

/* Without the SIGXFSZ that a file size limit may raise (setrlimit(2)).
   ftruncate would be cheaper, but makes a hole: then the disk may be full only
   when a page of it is written, which raises SIGBUS. */
int tg_mappedfile_allocate (int fd, uint64_t from, uint64_t size) {
  tg_Signals quiet = tg_signals_block(SIGXFSZ);
  int error;
  do
    error = posix_fallocate(fd, (off_t)from, (off_t)size);
  while (error == EINTR);
  tg_signals_unblock(&quiet, error == EFBIG);
  return error;
}

/* The file again, whose descriptor the program has closed; it may have other
   names by now, but not only others. */
static bool reopen (tg_MappedFile *f) {
  int fd = open(f->path, O_RDWR | O_CLOEXEC);
  f->fd = fd >= 0 ? tg_fdwriter_duplicate(fd) : -1;
  if (fd >= 0)
    close(fd);
  if (still_ours(f)) {
    flock(f->fd, LOCK_EX | LOCK_NB);
    return true;
  }
  if (f->fd >= 0)
    close(f->fd);
  f->fd = -1;
  errno = EBADF;
  return false;
}

/* Sees to it that the file has room for 'size' more bytes. */
static bool reserve (tg_MappedFile *f, size_t size) {
  tg_assert(f->end <= f->reserved);
  if (f->end + size <= f->reserved)
    return true;
  uint64_t more = f->end + size - f->reserved;
  uint64_t step = more < STEP ? STEP : more;
  f->full = f->limit != 0 && f->end + size > f->limit;
  if (f->full) {
    errno = EFBIG;
    return false;
  }
  if (f->limit != 0 && step > f->limit - f->reserved)
    step = f->limit - f->reserved;
  int error = tg_mappedfile_allocate(f->fd, f->reserved, step);
  if (error != 0 && step > more) {
    step = more;          /* the last bytes that there are */
    error = tg_mappedfile_allocate(f->fd, f->reserved, step);
  }
  errno = error;
  if (error != 0)
    return false;
  tg_filesize_grown(&f->size, f->path, f->fd, f->reserved, f->reserved + step);
  f->reserved += step;
  return true;
}

/* MAP_POPULATE: one system call now instead of a fault for every page, each of
   which would be in the hook. */
void *tg_mappedfile_map (tg_MappedFile *f, size_t size) {
  tg_check(size > 0);
  if ((!still_ours(f) && !reopen(f)) || !reserve(f, size))
    return NULL;
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_POPULATE, f->fd, (off_t)f->end);
  if (p == MAP_FAILED)
    return NULL;
  f->end += size;
  return p;
}

/* }================================================================== */

/*
** {==================================================================
** Let go of
** ===================================================================
*/

/* What was reserved is given back. Pages that are mapped beyond the new end
   must not be touched any more: that would raise SIGBUS (mmap(2)). */
void tg_mappedfile_cut (tg_MappedFile *f, uint64_t length) {
  if ((still_ours(f) || reopen(f)) && ftruncate(f->fd, (off_t)length) != 0)
    errno = 0;            /* then it ends in zeros */
}

void tg_mappedfile_write (const tg_MappedFile *f, uint64_t place,
                          const void *data, size_t size) {
  if (still_ours(f))
    tg_fileio_write(f->fd, data, size, place);
}

void tg_mappedfile_punch (const tg_MappedFile *f, uint64_t place,
                          uint64_t size) {
  int error = errno;
  if (still_ours(f))
    fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)place,
              (off_t)size);
  errno = error;
}

/* By name, and only if the name is still that of this file: somebody may have
   moved the file away and made another. */
void tg_mappedfile_remove (const tg_MappedFile *f) {
  struct stat st;
  if (stat(f->path, &st) == 0 && st.st_dev == f->device
      && st.st_ino == f->inode)
    unlink(f->path);
}

/* A mapping keeps the file open, and an open file its lock (flock(2)): so it is
   given up by name. */
void tg_mappedfile_unlock (tg_MappedFile *f) {
  if (still_ours(f))
    flock(f->fd, LOCK_UN);
  tg_mappedfile_close(f);
}

void tg_mappedfile_close (tg_MappedFile *f) {
  if (still_ours(f))
    close(f->fd);
  f->fd = -1;
}

void tg_mappedfile_free (tg_MappedFile *f) {
  tg_mappedfile_close(f);
  tg_free(f->path);
  f->path = NULL;
}

/* }================================================================== */
