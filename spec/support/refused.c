/*
** refused.c - what a host may do to the signals and the system calls of its
** threads, and a program with samples has to live with.
*/
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "lua.h"

#include "lauxlib.h"

static int mask_all (lua_State *L, int how) {
  sigset_t all;
  sigfillset(&all);
  if (sigprocmask(how, &all, NULL) != 0)
    return luaL_error(L, "no mask");
  return 0;
}

/* block(): all signals, of this thread, as those of pools do. */
static int block (lua_State *L) {
  return mask_all(L, SIG_BLOCK);
}

static int unblock (lua_State *L) {
  return mask_all(L, SIG_UNBLOCK);
}

/* refuse(): from now on there are no performance events, as in a container. */
static int refuse (lua_State *L) {
  struct sock_filter rules[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  };
  struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
      || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    return luaL_error(L, "no filter");
  return 0;
}

/* hang(seconds): of processor time, in this C function, which then ends the
   process by a signal that nobody can handle. */
static int hang (lua_State *L) {
  lua_Number seconds = luaL_checknumber(L, 1);
  clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
  while (clock() < end) {       /* a system call: no tick comes into it */
    for (volatile int i = 0; i < 100000; i++)
      continue;
  }
  return raise(SIGKILL);
}

__attribute__((visibility("default")))
int luaopen_refused (lua_State *L);

int luaopen_refused (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"block", block},
    {"unblock", unblock},
    {"refuse", refuse},
    {"hang", hang},
    {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
