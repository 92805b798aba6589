/* halt.c - see halt.h. */
#include "outside/halt.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "outside/process.h"

static uint64_t now_ns (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/*
** {==================================================================
** Threads that wait
** ===================================================================
*/

static bool read_of_thread (int pid, int tid, const char *name, char *to,
                            size_t n) {
  char path[64];
  snprintf(path, sizeof path, "task/%d/%s", tid, name);
  return tg_process_read(pid, path, to, n);
}

/* "NR args... SP PC" of a thread that waits; "running" (proc(5)). */
static bool words_in (const char *text, uint64_t words[2]) {
  const char *p = text;
  words[0] = words[1] = 0;
  if (*p != '-' && (*p < '0' || *p > '9'))
    return false;
  while (*p != '\0') {
    char *end;
    uint64_t word = strtoull(p, &end, 0);
    if (end == p)
      break;
    words[0] = words[1];
    words[1] = word;
    p = end;
  }
  return words[0] != 0;
}

uint64_t tg_halt_waits (int pid, int tid) {
  char text[256];
  uint64_t words[2];
  bool waits = read_of_thread(pid, tid, "syscall", text, sizeof text)
               && words_in(text, words);
  return waits ? words[0] : 0;
}

/* What it waits in, and when it last ran (sched: the third number counts). */
static bool note_wait (int pid, int tid, char *to, size_t n,
                       uint64_t words[2]) {
  char call[160], times[80];
  if (!read_of_thread(pid, tid, "syscall", call, sizeof call)
      || !words_in(call, words)
      || !read_of_thread(pid, tid, "schedstat", times, sizeof times))
    return false;
  snprintf(to, n, "%s%s", call, times);
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Stopping
** ===================================================================
*/

#define YIELDS 200              /* of the processor, then naps */
#define PATIENCE_NS UINT64_C(2000000000)        /* then it runs on, unseen */

typedef enum Stop {
  STOP_NOT_YET, STOP_STANDS, STOP_ENDED
} Stop;

/* The end of a child of ours is for whoever waits for that child. Of others
   nobody hears before we have (ptrace(2)). */
static void take_end (const tg_Halt *h) {
  siginfo_t info;
  if (h->tid != h->pid || tg_process_parent(h->pid) != getpid())
    waitid(P_PID, (id_t)h->tid, &info, WEXITED | WNOHANG | __WALL);
}

/* A stop that is a signal's is as good as ours, if the signal is passed on:
   ours says in further bits that it is none. */
static Stop ask (tg_Halt *h) {
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)h->tid, &info,
             WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0)
    return (errno == EINTR) ? STOP_NOT_YET : STOP_ENDED;
  if (info.si_pid == 0)
    return STOP_NOT_YET;
  if (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED) {
    h->signal = (info.si_status >> 8 == 0) ? info.si_status : 0;
    return STOP_STANDS;
  }
  take_end(h);
  return STOP_ENDED;
}

/* A thread that wants a processor stops only when it has one: what it waits for
   that is not our doing. So it is asked again and again, and the stop counts
   from the last time that it had not stopped. */
static Stop wait_stop (tg_Halt *h) {
  struct timespec nap = {0, 50000};
  uint64_t begun = h->since_ns, now = begun;
  for (int i = 0; now - begun < PATIENCE_NS; i++) {
    Stop stop = ask(h);
    if (stop != STOP_NOT_YET)
      return stop;
    h->since_ns = now;
    if (i < YIELDS)
      sched_yield();
    else
      nanosleep(&nap, NULL);
    now = now_ns();
  }
  return STOP_NOT_YET;
}

static void take_registers (tg_Halt *h) {
  uint8_t bytes[1024];
  struct iovec v = {bytes, sizeof bytes};
  if (ptrace(PTRACE_GETREGSET, h->tid, (void *)(uintptr_t)NT_PRSTATUS, &v)
      == 0)
    tg_registers_take(&h->registers, bytes, v.iov_len);
}

static bool seize (tg_Halt *h) {
  if (ptrace(PTRACE_SEIZE, h->tid, NULL, NULL) != 0)
    return false;
  h->since_ns = now_ns();
  ptrace(PTRACE_INTERRUPT, h->tid, NULL, NULL);         /* or it has ended */
  Stop stop = wait_stop(h);
  h->late = stop == STOP_NOT_YET;
  if (stop != STOP_STANDS) {
    errno = h->late ? ETIMEDOUT : ESRCH;
    return false;
  }
  take_registers(h);
  return true;
}

bool tg_halt_release (tg_Halt *h) {
  Stop stop = ask(h);
  if (stop == STOP_STANDS)
    ptrace(PTRACE_DETACH, h->tid, NULL, (void *)(intptr_t)h->signal);
  h->late = stop == STOP_NOT_YET;
  return !h->late;
}

/* A thread that has just slept is not interrupted soon by others that want the
   processor; and root may be the first in any case. */
int tg_halt_hurry (void) {
  struct timespec nap = {0, 500000};
  int usual = getpriority(PRIO_PROCESS, 0);
  setpriority(PRIO_PROCESS, 0, -20);
  nanosleep(&nap, NULL);
  return usual;
}

void tg_halt_relax (int usual) {
  setpriority(PRIO_PROCESS, 0, usual);
}

bool tg_halt_begin (tg_Halt *h, int pid, int tid) {
  uint64_t words[2];
  *h = (tg_Halt){.pid = pid, .tid = tid};
  char state = tg_process_state(pid, tid);
  if (state == 'T' || state == 't' || state == 'Z' || state == 'X')
    h->kind = TG_HALT_HELD;
  else if (note_wait(pid, tid, h->before, sizeof h->before, words)) {
    h->kind = TG_HALT_WAITS;
    h->registers.stack = words[0];
    h->registers.pc = words[1];
  }
  else if (seize(h))
    h->kind = TG_HALT_STOPPED;
  return h->kind != TG_HALT_NONE;
}

bool tg_halt_stop (tg_Halt *h, int pid, int tid) {
  *h = (tg_Halt){.pid = pid, .tid = tid};
  char state = tg_process_state(pid, tid);
  if (state == 'T' || state == 't' || state == 'Z' || state == 'X')
    h->kind = TG_HALT_HELD;
  else if (seize(h))
    h->kind = TG_HALT_STOPPED;
  return h->kind != TG_HALT_NONE;
}

bool tg_halt_rests (const tg_Halt *h) {
  char after[sizeof h->before];
  uint64_t words[2];
  if (h->kind != TG_HALT_WAITS)
    return h->kind != TG_HALT_NONE;
  return note_wait(h->pid, h->tid, after, sizeof after, words)
         && strcmp(after, h->before) == 0;
}

void tg_halt_end (tg_Halt *h) {
  if (h->kind == TG_HALT_STOPPED) {
    h->took_ns = now_ns() - h->since_ns;        /* then it may run, not we */
    ptrace(PTRACE_DETACH, h->tid, NULL, (void *)(intptr_t)h->signal);
  }
  h->kind = TG_HALT_NONE;
}

/* }================================================================== */

/*
** {==================================================================
** Which thread
** ===================================================================
*/

static uint64_t stack_of (int pid, int tid) {
  tg_Halt h;
  uint64_t stack = tg_halt_waits(pid, tid);
  if (stack != 0 || !tg_halt_begin(&h, pid, tid))
    return stack;
  stack = h.registers.stack;
  tg_halt_end(&h);
  return stack;
}

uint32_t tg_halt_threads (int pid, int *list, uint32_t most) {
  char path[64];
  struct dirent *e;
  uint32_t n = 0;
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *d = opendir(path);
  while (d != NULL && n < most && (e = readdir(d)) != NULL) {
    list[n] = atoi(e->d_name);
    n += list[n] != 0;
  }
  if (d != NULL)
    closedir(d);
  return n;
}

#define THREADS 4096u

int tg_halt_thread (int pid, uint64_t start, uint64_t end) {
  int list[THREADS];
  uint32_t n = tg_halt_threads(pid, list, THREADS);
  if (n <= 1)
    return (n == 1) ? list[0] : 0;
  for (uint32_t i = 0; i < n && end > start; i++) {
    uint64_t stack = stack_of(pid, list[i]);
    if (stack >= start && stack < end)
      return list[i];
  }
  return 0;
}

/* }================================================================== */
