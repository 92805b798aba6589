/*
** claim.c - see claim.h.
**
** Called when a recording on a file begins, and by the command line before it
** runs a program; on one thread, against any number of processes. What the
** system refuses is -1, false or NULL with errno.
**
** A lock alone is not enough: between opening a file and locking it another
** process may have removed it and made a new one of that name. So each lock is
** followed by a look at whether the name still is that file's.
*/
#include "recording/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/fileformat.h"
#include "text/fdwriter.h"
#include "text/newfile.h"

#define TRIES 1000          /* looks at a file that others come and go with */

/* Whether the file behind a descriptor is still the one of that name. */
static bool is_at (int fd, const char *path) {
  struct stat a, b;
  return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev
         && a.st_ino == b.st_ino;
}

/* EAGAIN: somebody was faster, who may have the file or have removed it. Any
   other errno: the file system has no locks. */
static bool lock (int fd, const char *path) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    errno = errno == EWOULDBLOCK || errno == EINTR ? EAGAIN : errno;
    return false;
  }
  if (!is_at(fd, path))
    errno = EAGAIN;
  else
    return true;
  return false;
}

/* A new file with the lock on it, or -1: EEXIST if there is one, EAGAIN if
   somebody was faster. The lock goes with the open file and not with the
   number, so the copy has it too (flock(2)). */
static int make (const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, TG_NEWFILE_MODE);
  if (fd < 0)
    return -1;
  int copy = tg_fdwriter_duplicate(fd);
  close(fd);
  if (copy >= 0 && lock(copy, path))
    return copy;
  int error = errno;
  if (copy >= 0)
    close(copy);
  if (copy >= 0 && error != EAGAIN)
    unlink(path);       /* where nobody can lock it, nobody else has it */
  errno = error;
  return -1;
}

/* The header of a recording; false if the file is none, or empty. */
static bool read_header (int fd, tg_Header *h) {
  return pread(fd, h, sizeof *h, 0) == (ssize_t)sizeof *h
         && memcmp(h->magic, TG_FORMAT_MAGIC, sizeof h->magic) == 0;
}

/* Whether the file may be removed by 'run'; false with errno. The lock comes
   first: a header that is read with the lock does not change any more. */
static bool is_older (int fd, const char *path, uint32_t run, bool force) {
  struct stat st;
  tg_Header h;
  bool locked = lock(fd, path);
  if (fstat(fd, &st) != 0)
    return false;
  if (!S_ISREG(st.st_mode)) {
    errno = EINVAL;
    return false;
  }
  bool recording = read_header(fd, &h);
  bool good = recording ? h.run != run : st.st_size == 0 || force;
  if (good && (locked || (force && recording)))
    return true;
  /* Whoever only looks has the lock for a moment, too. */
  bool busy = !recording || h.state == TG_FILE_RUNNING;
  errno = good && !busy ? EAGAIN : EEXIST;
  return false;
}

/* Removes the file at 'path' if it may be removed; false with errno.
   O_NONBLOCK: the name may be a pipe's, and opening that would wait for a
   writer. */
static bool make_way (const char *path, uint32_t run, bool force) {
  if (run == 0) {
    errno = EEXIST;
    return false;
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0)
    return errno == ENOENT;
  bool gone = is_older(fd, path, run, force) && unlink(path) == 0;
  int error = errno;
  close(fd);
  errno = error;
  return gone;
}

/* A process that has the lock only for a look lets go of it soon, so this one
   tries again; it does not wait inside flock, since the file may be gone by
   then. */
int tg_claim (const char *path, uint32_t run, bool force) {
  for (int i = 0; i < TRIES; i++) {
    int fd = make(path);
    if (fd >= 0)
      return fd;
    if (errno == EEXIST && make_way(path, run, force))
      continue;
    if (errno != EAGAIN)
      return -1;
    sched_yield();
  }
  errno = EEXIST;
  return -1;
}

/* ---- beforehand ---- */

/* 'path' up to its last slash, which is kept; in 'to', of its size at least. */
static void directory_of (const char *path, char *to) {
  const char *slash = strrchr(path, '/');
  size_t n = slash != NULL ? (size_t)(slash - path) + 1 : 0;
  tg_assert(n <= strlen(path));
  memcpy(to, path, n);
  strcpy(to + n, n == 0 ? "." : "");
}

/* Removing a name asks for nothing of the file, only of its directory
   (unlink(2)). A directory with the sticky bit may refuse it all the same: then
   the claim says so. */
static bool can_remove (const char *path) {
  char directory[PATH_MAX];
  if (strlen(path) >= sizeof directory - 1) {
    errno = ENAMETOOLONG;
    return false;
  }
  directory_of(path, directory);
  return access(directory, W_OK | X_OK) == 0;
}

/* Made with the lock on it: else others could find the file and claim it. */
static bool try_to_make (const char *path) {
  int fd = make(path);
  if (fd < 0)
    return errno == EAGAIN || (errno == EEXIST && can_remove(path));
  bool removed = unlink(path) == 0;
  int error = errno;
  close(fd);
  errno = error;
  return removed;
}

/* Beforehand, so that a program is not run for nothing; whether the claim
   itself succeeds is another question. */
bool tg_claim_try (const char *path) {
  if (!tg_newfile_is_link(path))
    return try_to_make(path);
  errno = ELOOP;
  return false;
}
