/*
** system.c - what programs do to themselves and to each other: fork, kill,
** limits, files cut short. For the specs of recordings.
*/
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lua.h"

#include "lauxlib.h"

/* pin(pid, n): onto the first (1) or second processor of those that we may use;
   false: there are not so many. The word is Linux's own, of glibc and musl
   alike: bits of a long. */
static int process_pin (lua_State *L) {
  unsigned long may[16] = {0}, one[16] = {0};
  lua_Integer n = luaL_checkinteger(L, 2);
  long size = syscall(SYS_sched_getaffinity, 0, sizeof may, may);
  for (int i = 0; i < (int)size * 8; i++) {
    if ((may[i / 64] >> (i % 64) & 1) != 0 && --n == 0) {
      one[i / 64] = 1ul << (i % 64);
      long failed = syscall(SYS_sched_setaffinity,
                            (pid_t)luaL_checkinteger(L, 1), sizeof one, one);
      lua_pushboolean(L, failed == 0);
      return 1;
    }
  }
  lua_pushboolean(L, false);
  return 1;
}

/* fork() -> pid, or 0 in the child. */
static int process_fork (lua_State *L) {
  lua_pushinteger(L, fork());
  return 1;
}

/* kill(pid, signal) */
static int process_kill (lua_State *L) {
  kill((pid_t)luaL_checkinteger(L, 1), (int)luaL_checkinteger(L, 2));
  return 0;
}

/* wait(pid) -> exit status; 128 + n for a signal. */
static int process_wait (lua_State *L) {
  int status;
  pid_t pid = (pid_t)luaL_checkinteger(L, 1);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    continue;
  lua_pushinteger(L, WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                         : WEXITSTATUS(status));
  return 1;
}

/* sleep(seconds) -> how often a signal came */
static int process_sleep (lua_State *L) {
  double s = luaL_checknumber(L, 1);
  struct timespec t = {.tv_sec = (time_t)s};
  t.tv_nsec = (long)((s - (double)t.tv_sec) * 1e9);
  lua_Integer n = 0;
  while (nanosleep(&t, &t) < 0 && errno == EINTR)
    n++;
  lua_pushinteger(L, n);
  return 1;
}

/* now() -> seconds that go on evenly */
static int process_now (lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  lua_pushnumber(L, (double)t.tv_sec + (double)t.tv_nsec / 1e9);
  return 1;
}

static int system_pid (lua_State *L) {
  lua_pushinteger(L, getpid());
  return 1;
}

/* parent() -> pid */
static int process_parent (lua_State *L) {
  lua_pushinteger(L, getppid());
  return 1;
}

/* redirect(path, fd): what goes there goes to that file. */
static int process_redirect (lua_State *L) {
  int fd = open(luaL_checkstring(L, 1), O_WRONLY | O_CREAT, 0666);
  int to = (int)luaL_checkinteger(L, 2);
  lua_pushboolean(L, fd >= 0 && dup2(fd, to) == to && close(fd) == 0);
  return 1;
}

static int process_abort (lua_State *L) {
  (void)L;
  abort();
}

/* leave(status): by no exit function. */
static int process_leave (lua_State *L) {
  _exit((int)luaL_checkinteger(L, 1));
}

/* limit(bytes): no file may be longer; 0 = any. */
static int process_limit (lua_State *L) {
  rlim_t n = (rlim_t)luaL_checkinteger(L, 1);
  struct rlimit r;
  getrlimit(RLIMIT_FSIZE, &r);
  r.rlim_cur = (n > 0) ? n : r.rlim_max;
  lua_pushboolean(L, setrlimit(RLIMIT_FSIZE, &r) == 0);
  return 1;
}

/* truncate(path, size) */
static int process_truncate (lua_State *L) {
  int error = truncate(luaL_checkstring(L, 1), (off_t)luaL_checkinteger(L, 2));
  return luaL_fileresult(L, error == 0, lua_tostring(L, 1));
}

/* closeall(): every descriptor but the first three. */
static int process_closeall (lua_State *L) {
  (void)L;
  for (int fd = 3; fd < (int)sysconf(_SC_OPEN_MAX) && fd < 65536; fd++)
    close(fd);
  return 0;
}

/* openall(path, n): takes every number below n that is free for this file. */
static int process_openall (lua_State *L) {
  int fd = open(luaL_checkstring(L, 1), O_RDWR | O_CREAT, 0666);
  int n = (int)luaL_checkinteger(L, 2);
  for (int i = 3; fd >= 0 && i < n; i++) {
    if (fcntl(i, F_GETFD) < 0)
      dup2(fd, i);
  }
  return 0;
}

/* descriptors(below) -> how many there are */
static int process_descriptors (lua_State *L) {
  int below = (int)luaL_checkinteger(L, 1), n = 0;
  for (int i = 0; i < below; i++)
    n += fcntl(i, F_GETFD) >= 0;
  lua_pushinteger(L, n);
  return 1;
}

static int process_chdir (lua_State *L) {
  return luaL_fileresult(L, chdir(luaL_checkstring(L, 1)) == 0,
                         lua_tostring(L, 1));
}

static int process_mkfifo (lua_State *L) {
  return luaL_fileresult(L, mkfifo(luaL_checkstring(L, 1), 0666) == 0,
                         lua_tostring(L, 1));
}

/* nobody(): gives up being root, to whom nothing is read-only. */
static int process_nobody (lua_State *L) {
  lua_pushboolean(L, getuid() != 0 || setuid(65534) == 0);
  return 1;
}

/* exec(file, arguments...): becomes that program, with these arguments. */
static int process_exec (lua_State *L) {
  char *words[64] = {NULL};
  int n = lua_gettop(L);
  luaL_argcheck(L, n < 64, n, "too many");
  for (int i = 0; i < n; i++)
    words[i] = (char *)(uintptr_t)luaL_checkstring(L, i + 1);
  execvp(words[0], words);
  return luaL_fileresult(L, 0, words[0]);
}

/* Where malloc has the first of its memory (proc_pid_maps(5)). */
static bool find_heap (uint64_t **start, size_t *words) {
  char line[512];
  FILE *f = fopen("/proc/self/maps", "r");
  bool found = false;
  while (!found && f != NULL && fgets(line, sizeof line, f) != NULL) {
    char *end;
    uintptr_t from = strtoul(line, &end, 16);
    found = strstr(line, "[heap]") != NULL;
    *start = (uint64_t *)from;
    *words = (strtoul(end + 1, NULL, 16) - from) / sizeof **start;
  }
  if (f != NULL)
    fclose(f);
  return found;
}

/* Other words that are there mostly, so that what led somewhere leads
   elsewhere; or no pointers. */
static void change_one (uint64_t *heap, size_t words, uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
  size_t at = (size_t)(*seed >> 20) % words;
  size_t other = (size_t)(*seed >> 13) % words;
  if (heap[at] >> 40 == 0)
    return;             /* small numbers lead nowhere */
  switch (*seed >> 60) {
    case 0: heap[at] = *seed; break;
    case 1: heap[at] += 8; break;
    case 2: heap[at] ^= UINT64_C(1) << (*seed >> 40) % 48; break;
    default: heap[at] = heap[other]; break;
  }
}

/* scramble(path): as soon as that file is there words of the process's own
   memory become others, one after the other, for ever. Nothing but system calls
   works from then on. */
static int process_scramble (lua_State *L) {
  struct timespec pause = {0, 20000};
  const char *path = luaL_checkstring(L, 1);
  uint64_t *heap, seed = 1;
  size_t words;
  if (!find_heap(&heap, &words))
    return luaL_error(L, "no heap");
  while (access(path, F_OK) != 0)
    continue;
  for (;;) {
    for (int i = 0; i < 1000; i++)
      change_one(heap, words, &seed);
    nanosleep(&pause, NULL);
  }
}

static volatile sig_atomic_t counted[65];

static void count_signal (int number) {
  counted[number]++;
}

/* count(signal) -> how often it came since it is counted; calls begin anew. */
static int process_count (lua_State *L) {
  int number = (int)luaL_checkinteger(L, 1);
  struct sigaction act = {.sa_flags = SA_RESTART};
  luaL_argcheck(L, number > 0 && number <= 64, 1, "no signal");
  act.sa_handler = count_signal;
  sigaction(number, &act, NULL);
  lua_pushinteger(L, counted[number]);
  return 1;
}

/* storm(microseconds): SIGALRM comes so often; 0: no more. */
static int process_storm (lua_State *L) {
  suseconds_t us = (suseconds_t)luaL_checkinteger(L, 1);
  struct itimerval every = {{0, us}, {0, us}};
  lua_pushboolean(L, setitimer(ITIMER_REAL, &every, NULL) == 0);
  return 1;
}

/* suspend(signal) -> how often it came, whether it is blocked afterwards: it is
   but in the call that waits for it. */
static int process_suspend (lua_State *L) {
  int number = (int)luaL_checkinteger(L, 1);
  sigset_t one, usual, after;
  sigemptyset(&one);
  sigaddset(&one, number);
  sigprocmask(SIG_BLOCK, &one, &usual);
  sigsuspend(&usual);
  sigprocmask(SIG_SETMASK, &usual, &after);
  lua_pushinteger(L, counted[number]);
  lua_pushboolean(L, sigismember(&after, number));
  return 2;
}

/* filter() -> whether its calls of the system are filtered now: none is
   refused. */
static int process_filter (lua_State *L) {
  struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {1, &all};
  lua_pushboolean(L, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                     && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                        == 0);
  return 1;
}

static const luaL_Reg functions[] = {
  {"scramble", process_scramble},
  {"fork", process_fork},
  {"pin", process_pin},
  {"kill", process_kill},
  {"wait", process_wait},
  {"sleep", process_sleep},
  {"now", process_now},
  {"pid", system_pid},
  {"parent", process_parent},
  {"redirect", process_redirect},
  {"abort", process_abort},
  {"leave", process_leave},
  {"limit", process_limit},
  {"truncate", process_truncate},
  {"closeall", process_closeall},
  {"openall", process_openall},
  {"descriptors", process_descriptors},
  {"chdir", process_chdir},
  {"mkfifo", process_mkfifo},
  {"nobody", process_nobody},
  {"exec", process_exec},
  {"count", process_count},
  {"storm", process_storm},
  {"suspend", process_suspend},
  {"filter", process_filter},
  {NULL, NULL}
};

__attribute__((visibility("default")))
int luaopen_process (lua_State *L);

int luaopen_process (lua_State *L) {
  luaL_newlib(L, functions);
  return 1;
}
