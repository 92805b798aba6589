/*
** asleep.c - see asleep.h. The kernel tells where a thread waits by
** /proc/self/task/TID/syscall (proc(5)); where there is no such file, or the
** machine is another one than those below, no thread is ever found.
*/
#include "signal/asleep.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "signal/struck.h"

/* System calls that wait for others and that no allocator makes. So futex is
   missing, by which locks wait, an allocator's too; and so are calls that
   write, since an allocator may log what it does. */
static const long waits[] = {
#ifdef SYS_accept
  SYS_accept,
#endif
  SYS_accept4, SYS_clock_nanosleep, SYS_connect,
#ifdef SYS_epoll_wait
  SYS_epoll_wait,
#endif
  SYS_epoll_pwait,
#ifdef SYS_epoll_pwait2
  SYS_epoll_pwait2,
#endif
  SYS_flock, SYS_nanosleep,
#ifdef SYS_pause
  SYS_pause,
#endif
#ifdef SYS_poll
  SYS_poll,
#endif
  SYS_ppoll, SYS_pselect6, SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmmsg,
  SYS_recvmsg, SYS_restart_syscall, SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
#ifdef SYS_select
  SYS_select,
#endif
  SYS_wait4, SYS_waitid
};

static bool is_wait (long call) {
  for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
    if (waits[i] == call)
      return true;
  }
  return false;
}

/*
** {==================================================================
** From outside
** ===================================================================
*/

static bool read_text (pid_t thread, char *text, size_t size) {
  char name[64];
  snprintf(name, sizeof name, "/proc/self/task/%d/syscall", (int)thread);
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  ssize_t n = read(fd, text, size - 1);
  close(fd);
  text[n > 0 ? n : 0] = '\0';
  return n > 0;
}

/* "NUMBER ARGUMENTS... STACK INSTRUCTION", or "running", or "-1 ..." of what
   waits in no call. */
bool tg_asleep_look (tg_Asleep *a, pid_t thread) {
  char text[256];
  uintptr_t stack = 0, instruction = 0;
  if (read_text(thread, text, sizeof text)) {
    char *end, *last = strrchr(text, ' ');
    long call = strtol(text, &end, 10);
    if (end != text && last != NULL && is_wait(call)) {
      instruction = (uintptr_t)strtoull(last, NULL, 16);
      *last = '\0';
      last = strrchr(text, ' ');
      stack = (last != NULL) ? (uintptr_t)strtoull(last, NULL, 16) : 0;
    }
  }
  atomic_store(&a->instruction, instruction);
  atomic_store(&a->stack, stack);
  return instruction != 0 && stack != 0;
}

uintptr_t tg_asleep_stack (const tg_Asleep *a) {
  return atomic_load(&a->stack);
}

/* }================================================================== */

/*
** {==================================================================
** In a handler
** ===================================================================
*/

/* A call that is to be made again after the handler begins at the instruction
   that makes it (SA_RESTART, signal(7)), of this many bytes. */
#if defined(__x86_64__)
#define CALL 2
#else
#define CALL 4
#endif

bool tg_asleep_there (const tg_Asleep *a, const void *context) {
  uintptr_t instruction = tg_struck_instruction(context);
  uintptr_t behind = atomic_load(&a->instruction);
  return behind != 0 && (instruction == behind || instruction + CALL == behind)
         && tg_struck_stack(context) == atomic_load(&a->stack);
}

/* }================================================================== */
