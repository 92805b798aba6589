/*
** fdwriter.c - see fdwriter.h.
**
** Called by the log in the hook, by exports and where something is told on
** standard error; one thread for each writer. The first errno stays in 'error'.
*/
#include "text/fdwriter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "signal/signals.h"

#define LOWEST 100      /* descriptors below are the program's */

/* open takes the lowest free number (open(2)), so each gets its own if they are
   opened in this order. Opened the wrong way round: a program that reads
   without a standard input gets EBADF as before. */
void tg_fdwriter_occupy (void) {
  int error = errno;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    int wrong_way = (fd == STDIN_FILENO) ? O_WRONLY : O_RDONLY;
    if (fcntl(fd, F_GETFD) < 0)
      open("/dev/null", wrong_way | O_CLOEXEC);
  }
  errno = error;
}

/* The lower number is for programs that may have few files open. */
int tg_fdwriter_duplicate (int fd) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, LOWEST);
  return copy >= 0 ? copy : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* What cannot be copied is an error from the start: each write says so. What is
   no file may raise SIGPIPE; of what cannot be asked that is assumed. */
void tg_fdwriter_open (tg_FdWriter *o, int fd) {
  struct stat st;
  *o = (tg_FdWriter){.fd = tg_fdwriter_duplicate(fd),
                     .terminal = isatty(fd) == 1};
  if (o->fd < 0)
    o->error = errno;
  o->pipe = fstat(fd, &st) != 0 || S_ISFIFO(st.st_mode)
            || S_ISSOCK(st.st_mode);
}

/* Twice is fine. */
void tg_fdwriter_close (tg_FdWriter *o) {
  if (o->fd >= 0)
    close(o->fd);
  o->fd = -1;
}

/* The program (or a shell) may have made the descriptor non-blocking: that is a
   property of the open file, which the copy shares, and cannot be changed here
   without changing it there (fcntl(2)). So the wait is by poll. */
static bool retry (int fd, int error) {
  if (error == EINTR)
    return true;
  if (error != EAGAIN && error != EWOULDBLOCK)
    return false;
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

/* Returns 0, or the errno of the write that failed. */
static int writeall (int fd, const char *data, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, data, size);
    tg_assert(n < 0 || (size_t)n <= size);
    if (n < 0) {
      if (!retry(fd, errno))
        return errno;
      continue;
    }
    data += n;
    size -= (size_t)n;
  }
  return 0;
}

/* Without the SIGPIPE that it may raise. */
static int writepipe (int fd, const char *data, size_t size) {
  tg_Signals quiet = tg_signals_block(SIGPIPE);
  int error = quiet.blocked ? writeall(fd, data, size) : EPIPE;
  tg_signals_unblock(&quiet, error == EPIPE);
  return error;
}

/* All of it or an error. After one nothing is tried: half of a text would
   follow half of another. */
bool tg_fdwriter_write (tg_FdWriter *o, const char *data, size_t size) {
  if (o->error != 0)
    return false;
  o->error = o->pipe ? writepipe(o->fd, data, size)
                     : writeall(o->fd, data, size);
  return o->error == 0;
}

/* Zeros: it is no terminal, or does not know. */
static struct winsize size_of (const tg_FdWriter *o) {
  struct winsize w = {0};
  if (o->terminal && ioctl(o->fd, TIOCGWINSZ, &w) != 0)
    w = (struct winsize){0};
  return w;
}

uint32_t tg_fdwriter_width (const tg_FdWriter *o) {
  return size_of(o).ws_col;
}

uint32_t tg_fdwriter_height (const tg_FdWriter *o) {
  return size_of(o).ws_row;
}
