/*
** lifeline.c - the pipe between a process that listens and its children. Called
** with the server's mutex, after a fork, and in a signal handler, which calls
** tg_lifeline_due and tg_lifeline_sent. What fails is errno's, and leaves
** children as they would be without.
*/
#include "server/lifeline.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digits.h"
#include "text/fdwriter.h"

#ifndef sigev_notify_thread_id  /* glibc has the field under this name alone */
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define SETTLING_S 1            /* from the parent's end on */

/* Which file that is, whatever number it has. */
typedef struct File {
  dev_t device;
  ino_t number;
} File;

static struct {
  _Atomic int reader, writer;   /* owns; -1: none */
  File pipe;
  _Atomic pid_t keeper;         /* who listens, or listened; 0: nobody did */
  File error;                   /* standard error at the fork */
  _Atomic uint64_t due_ns;      /* when enough has been waited; 0: it is not
                                   known that the process has ended */
  timer_t timer;                /* owns: until then... */
  bool timed;                   /* ...if there is one */
} line = {.reader = -1, .writer = -1};

static bool is_file (int fd, const File *f) {
  struct stat st;
  return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == f->device
         && st.st_ino == f->number;
}

static File file_of (int fd) {
  struct stat st;
  if (fstat(fd, &st) != 0)
    return (File){0, 0};
  return (File){st.st_dev, st.st_ino};
}

/* The program may have closed it, and have another file of that number. */
static void drop (_Atomic int *fd) {
  if (is_file(*fd, &line.pipe))
    close(*fd);
  *fd = -1;
}

/* A number out of the program's way, for one in it. */
static int move_away (int fd) {
  int copy = tg_fdwriter_duplicate(fd);
  if (copy < 0)
    return fd;
  close(fd);
  return copy;
}

/* Nothing is waited for. */
static void stop_waiting (void) {
  if (line.timed)
    timer_delete(line.timer);
  line.timed = false;
  line.due_ns = 0;
}

void tg_lifeline_end (void) {
  stop_waiting();
  drop(&line.reader);
  drop(&line.writer);
  line.keeper = 0;
}

void tg_lifeline_begin (void) {
  int ends[2];
  if (line.writer >= 0 && is_file(line.writer, &line.pipe))
    return;
  tg_lifeline_end();
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return;
  line.reader = move_away(ends[0]);
  line.writer = move_away(ends[1]);
  line.pipe = file_of(line.reader);
  line.keeper = getpid();
}

/* To write takes no time: the pipe is empty. SIGPIPE is not to be feared, since
   this process has the other end as well. */
void tg_lifeline_cut (void) {
  int error = errno;
  if (is_file(line.writer, &line.pipe) && is_file(line.reader, &line.pipe)
      && write(line.writer, "", 1) < 0)
    errno = error;              /* they take it for an end, then */
  tg_lifeline_end();
}

void tg_lifeline_leave (void) {
  if (line.writer < 0)
    tg_lifeline_end();
}

/* The pipe's other end is the parent's alone, and so is its timer (fork(2)). */
void tg_lifeline_forked (void) {
  line.timed = false;
  line.due_ns = 0;
  if (line.writer >= 0)
    drop(&line.writer);
  if (line.keeper != 0)
    line.error = file_of(STDERR_FILENO);
}

/* The same pipe, opened once more: who is to be sent a signal is a property of
   the open file, which forked processes share, and each of them is to be sent
   its own. */
static int open_again (int fd) {
  char path[sizeof "/proc/self/fd/" + TG_DIGITS] = "/proc/self/fd/";
  *tg_digits(path + strlen(path), (uint64_t)fd) = '\0';
  int own = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return own >= 0 ? move_away(own) : -1;
}

/* By F_SETSIG, since the default of SIGIO is to end the process. */
static bool send_signal (int fd) {
  struct f_owner_ex self = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
  return fcntl(fd, F_SETSIG, SIGURG) == 0
         && fcntl(fd, F_SETOWN_EX, &self) == 0
         && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC) == 0;
}

/* Without the pipe only a process that has been waited for is known to have
   ended. */
static bool keeper_is_gone (void) {
  return line.keeper != 0 && kill(line.keeper, 0) != 0 && errno == ESRCH;
}

static bool has_ended (void) {
  if (line.writer >= 0 || line.keeper == 0)
    return false;
  int error = errno;
  struct pollfd p = {.fd = line.reader, .events = POLLIN};
  bool ended;
  if (!is_file(line.reader, &line.pipe))
    ended = keeper_is_gone();
  else
    ended = poll(&p, 1, 0) > 0 && (p.revents & (POLLIN | POLLHUP)) == POLLHUP;
  errno = error;
  return ended;
}

/* What happened before it was armed is asked after that. */
void tg_lifeline_arm (void) {
  int error = errno;
  if (line.writer < 0 && is_file(line.reader, &line.pipe)) {
    int own = open_again(line.reader);
    if (own >= 0) {
      drop(&line.reader);
      line.reader = own;
      send_signal(own);
    }
  }
  if (has_ended())
    pthread_kill(pthread_self(), SIGURG);
  errno = error;
}

bool tg_lifeline_due (void) {
  uint64_t due = line.due_ns;
  if (line.writer >= 0 || line.keeper == 0)
    return false;
  return (due != 0) ? tg_clock_monotonic_ns() >= due : has_ended();
}

/* Without a timer it is the collector that comes by. */
static void send_later (void) {
  const struct itimerspec times = {.it_value = {.tv_sec = SETTLING_S}};
  struct sigevent e = {
    .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG,
    .sigev_value.sival_ptr = &line
  };
  e.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  line.timed = timer_create(CLOCK_MONOTONIC, &e, &line.timer) == 0;
  if (line.timed)
    timer_settime(line.timer, 0, &times, NULL);
}

/* The timer is set last: when it comes it is due. */
bool tg_lifeline_wait (bool signal) {
  if (line.due_ns != 0)
    return !tg_lifeline_due();
  line.due_ns = tg_clock_monotonic_ns() + SETTLING_S * UINT64_C(1000000000);
  if (signal)
    send_later();
  return true;
}

/* Of a file's signal the kernel tells which descriptor it was (F_SETSIG,
   fcntl(2)). */
bool tg_lifeline_sent (const siginfo_t *info) {
  if (info->si_signo != SIGURG || line.writer >= 0 || line.keeper == 0)
    return false;
  return (info->si_code == SI_TIMER && info->si_value.sival_ptr == &line)
         || (info->si_code > 0 && info->si_fd == line.reader);
}

void tg_lifeline_tell (const char *text) {
  tg_FdWriter o;
  if (!is_file(STDERR_FILENO, &line.error))
    return;
  tg_fdwriter_open(&o, STDERR_FILENO);
  tg_fdwriter_write(&o, text, strlen(text));
  tg_fdwriter_close(&o);
}
