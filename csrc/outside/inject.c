/* inject.c - see inject.h. */
#include "outside/inject.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "outside/process.h"

#if defined(__x86_64__)

#define OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE)
#define CALL (SIGTRAP | 0x80)   /* a stop at a call, by that option */
#define CODE_64 0x33            /* 'cs' of a thread that runs 64-bit code */
#define RSEQ_CONFIGURATION 0x420f       /* PTRACE_GET_RSEQ_CONFIGURATION */

/* ---- where ---- */

/* Field "NAME:\tN" of proc_pid_status(5); -1: it is not there. */
static long status_field (int pid, const char *name) {
  char text[4096];
  if (!tg_process_read(pid, "status", text, sizeof text))
    return -1;
  const char *at = strstr(text, name);
  return (at != NULL) ? strtol(at + strlen(name), NULL, 10) : -1;
}

bool tg_inject_allowed (int pid, tg_Buf *words) {
  if (status_field(pid, "\nSeccomp:") <= 0)
    return true;
  tg_buf_addfmt(words, "process %d filters its calls of the system (seccomp): "
                "it cannot be forked", pid);
  return false;
}

#define BLOCK 65536u
#define BLOCKS 64u              /* of one file */

static uint64_t search (tg_Memory *m, const tg_Map *map) {
  static const uint8_t code[] = {0x0f, 0x05};
  uint8_t bytes[BLOCK];
  uint64_t at = map->start;
  for (uint32_t i = 0; i < BLOCKS && at < map->end; i++, at += BLOCK) {
    size_t size = (map->end - at < BLOCK) ? (size_t)(map->end - at) : BLOCK;
    const uint8_t *found = tg_memory_block(m, at, bytes, size)
                           ? memmem(bytes, size, code, sizeof code) : NULL;
    if (found != NULL)
      return at + (uint64_t)(found - bytes);
  }
  return 0;
}

uint64_t tg_inject_place (tg_Memory *m) {
  uint64_t place = 0;
  for (uint32_t i = 0; i < m->maps.count && place == 0; i++) {
    const tg_Map *map = &m->maps.list[i];
    if ((map->flags & TG_MAP_RUN) != 0 && (map->flags & TG_MAP_READ) != 0
        && (map->flags & TG_MAP_WRITE) == 0 && map->inode != 0)
      place = search(m, map);
  }
  return place;
}

/* ---- stops ---- */

/* Until it stops; false: it has ended. */
static bool wait_stop (int tid, int *status) {
  pid_t got;
  do
    got = waitpid(tid, status, __WALL);
  while (got < 0 && errno == EINTR);
  return got == tid && WIFSTOPPED(*status);
}

/* To the next stop, 'calls': at the next call at the latest. */
static bool go_on (int tid, bool calls, int *status) {
  long error = calls ? ptrace(PTRACE_SYSCALL, tid, NULL, NULL)
                     : ptrace(PTRACE_CONT, tid, NULL, NULL);
  return error == 0 && wait_stop(tid, status);
}

/* In the middle of one the kernel notes where it would have to begin anew, and
   forgets that when the thread is elsewhere. */
static bool in_sequence (int tid) {
  struct {
    uint64_t at;        /* of the thread's struct rseq */
    uint32_t size, signature, flags, pad;
  } seen = {0};
  if (ptrace(RSEQ_CONFIGURATION, tid, (void *)sizeof seen, &seen)
      != (long)sizeof seen || seen.at == 0)
    return false;
  errno = 0;
  long at = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)(seen.at + 8),
                   NULL);
  return at != 0 || errno != 0;
}

/* Made but for its first instruction. When we end it is to end. */
static int take_child (int tid) {
  unsigned long number = 0;
  int status;
  ptrace(PTRACE_GETEVENTMSG, tid, NULL, &number);
  int child = (int)number;
  if (child <= 0 || !wait_stop(child, &status))
    return 0;
  ptrace(PTRACE_SETOPTIONS, child, NULL,
         (void *)(uintptr_t)PTRACE_O_EXITKILL);
  return child;
}

/* ---- the call ---- */

/* From the stop to where the call is left; false: another stop has come, or its
   end. */
static bool make_call (tg_Halt *h, tg_Injected *done, int *status) {
  bool entered = false;
  for (;;) {
    if (!go_on(h->tid, true, status))
      return false;
    if (*status >> 8 == (SIGTRAP | PTRACE_EVENT_CLONE << 8))
      done->child = take_child(h->tid);
    else if (WSTOPSIG(*status) != CALL)
      return false;
    else if (entered)
      return true;
    else
      entered = true;
  }
}

/* To the kind of stop in which the kernel looks at what a call was left with,
   so that the thread's own begins anew. A stop that is a signal's is one, too:
   SIGSTOP, which cannot be blocked. */
static void settle (tg_Halt *h, int *status) {
  if (WSTOPSIG(*status) != CALL) {
    if (*status >> 16 == 0)
      h->signal = WSTOPSIG(*status);
    return;
  }
  ptrace(PTRACE_INTERRUPT, h->tid, NULL, NULL);
  if (go_on(h->tid, false, status) && *status >> 16 == 0)
    h->signal = WSTOPSIG(*status);
}

static bool call_at (tg_Halt *h, const struct user_regs_struct *before,
                     uint64_t place, long number, const uint64_t *arguments,
                     tg_Injected *done) {
  struct user_regs_struct r = *before;
  int status = 0;
  r.orig_rax = ~0ull;           /* none that would begin anew */
  r.rax = (unsigned long long)number;
  r.rdi = arguments[0];
  r.rsi = arguments[1];
  r.rdx = arguments[2];
  r.r10 = arguments[3];
  r.r8 = 0;
  r.rip = place;
  if (ptrace(PTRACE_SETREGS, h->tid, NULL, &r) != 0)
    return false;
  bool made = make_call(h, done, &status)
              && ptrace(PTRACE_GETREGS, h->tid, NULL, &r) == 0;
  done->result = (int64_t)r.rax;
  if (WIFSTOPPED(status))
    settle(h, &status);
  return made;
}

bool tg_inject_call (tg_Halt *h, uint64_t place, long number,
                     const uint64_t arguments[4], tg_Injected *done) {
  struct user_regs_struct before;
  uint64_t mask, all = ~UINT64_C(0);
  *done = (tg_Injected){0};
  if (h->kind != TG_HALT_STOPPED || h->signal != 0 || in_sequence(h->tid)
      || ptrace(PTRACE_GETREGS, h->tid, NULL, &before) != 0
      || before.cs != CODE_64
      || ptrace(PTRACE_GETSIGMASK, h->tid, (void *)sizeof mask, &mask) != 0
      || ptrace(PTRACE_SETOPTIONS, h->tid, NULL,
                (void *)(uintptr_t)OPTIONS) != 0)
    return false;
  ptrace(PTRACE_SETSIGMASK, h->tid, (void *)sizeof all, &all);
  bool made = call_at(h, &before, place, number, arguments, done);
  ptrace(PTRACE_SETREGS, h->tid, NULL, &before);
  ptrace(PTRACE_SETSIGMASK, h->tid, (void *)sizeof mask, &mask);
  return made;
}

#else

bool tg_inject_allowed (int pid, tg_Buf *words) {
  (void)pid;
  tg_buf_addstr(words, "a process is forked on x86-64 alone");
  return false;
}

uint64_t tg_inject_place (tg_Memory *m) {
  (void)m;
  return 0;
}

bool tg_inject_call (tg_Halt *h, uint64_t place, long number,
                     const uint64_t arguments[4], tg_Injected *done) {
  (void)h, (void)place, (void)number, (void)arguments;
  *done = (tg_Injected){0};
  return false;
}

#endif
