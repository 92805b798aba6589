/*
** sampled.c - what an untraced program spends its time on, seen from outside
** of its interpreter (for spec/truth).
**
** A hook sees a tick at the next instruction that looks for one, which may be
** in another function by then. Here the signal's handler itself looks at the
** running CallInfo, through lua_getstack and lua_getinfo, of which "S" and "n"
** only read and allocate nothing. That is no way for a profiler: a CallInfo may
** be half made when the signal comes, and still have what it had before, with a
** stack that was freed since. Such a tick is dropped, if need be by a SIGSEGV.
**
** Ticks come by the thread's processor time, from a perf event, or where those
** are refused from a timer, which the kernel looks at a few hundred times a
** second. So what else the machine does is in no function's time. Nothing here
** is tracegrip's.
*/
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <lua.h>

#include <lauxlib.h>

#define EVERY_NS 97000
#define THREADS 8
#define KEYS 64

static struct {
  lua_State *threads[THREADS];  /* those that resume before those resumed */
  int nthreads;
  char keys[KEYS][32];          /* a function's line, or a C function's name */
  unsigned long counts[KEYS];
  int nkeys;
} taken;

static int event = -1;          /* perf's descriptor; -1: 'timer' ticks */
static timer_t timer;

/*
** {==================================================================
** A tick
** ===================================================================
*/

static sigjmp_buf out;
static volatile sig_atomic_t inside;

/* In the handler; elsewhere the program has crashed by itself. */
static void give_up (int sig) {
  if (!inside)
    signal(sig, SIG_DFL);
  else
    siglongjmp(out, 1);
}

/* Whether the thread is in coroutine.resume, or in what wrap has given. */
static int resumes (lua_State *L) {
  lua_Debug ar;
  if (!lua_getstack(L, 0, &ar))
    return 0;
  lua_getinfo(L, "S", &ar);
  return *ar.what == 'C';
}

/* The innermost of the threads that run: others are suspended, or over. As in a
   trace, to yield lasts until the function that has resumed returns. */
static int find_running (lua_Debug *ar) {
  for (int i = taken.nthreads - 1; i >= 0; i--) {
    lua_State *L = taken.threads[i];
    int status = lua_status(L);
    if (lua_getstack(L, 0, ar)
        && (status == LUA_OK
            || (status == LUA_YIELD && i > 0
                && resumes(taken.threads[i - 1]))))
      return i;
  }
  return -1;
}

static void count (const char *key) {
  int i = 0;
  while (i < taken.nkeys && strcmp(taken.keys[i], key) != 0)
    i++;
  if (i == KEYS)
    return;
  if (i == taken.nkeys) {
    strcpy(taken.keys[i], key);
    taken.nkeys++;
  }
  taken.counts[i]++;
}

static void count_running (void) {
  lua_Debug ar;
  char key[32];
  int i = find_running(&ar);
  if (i < 0)
    return;
  lua_getinfo(taken.threads[i], "S", &ar);
  if (*ar.what != 'C')
    snprintf(key, sizeof key, "%d", ar.linedefined > 0 ? ar.linedefined : 0);
  else {
    lua_getinfo(taken.threads[i], "n", &ar);
    snprintf(key, sizeof key, "%s", ar.name != NULL ? ar.name : "?");
  }
  count(key);
}

static void take (int sig) {
  (void)sig;
  inside = 1;
  if (sigsetjmp(out, 1) == 0)
    count_running();
  inside = 0;
}

/* }================================================================== */

/*
** {==================================================================
** What ticks
** ===================================================================
*/

static int begin_event (void) {
  struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
  struct perf_event_attr a;
  memset(&a, 0, sizeof a);
  a.size = sizeof a;
  a.type = PERF_TYPE_SOFTWARE;
  a.config = PERF_COUNT_SW_TASK_CLOCK;
  a.sample_period = EVERY_NS;
  a.wakeup_events = 1;
  a.exclude_kernel = a.exclude_hv = a.disabled = 1;
  event = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1,
                       PERF_FLAG_FD_CLOEXEC);
  return event >= 0 && fcntl(event, F_SETFL, O_ASYNC) == 0
         && fcntl(event, F_SETSIG, SIGALRM) == 0
         && fcntl(event, F_SETOWN_EX, &owner) == 0
         && ioctl(event, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

static int begin_timer (void) {
  struct sigevent to = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  struct itimerspec every = {{0, EVERY_NS}, {0, EVERY_NS}};
  return timer_create(CLOCK_THREAD_CPUTIME_ID, &to, &timer) == 0
         && timer_settime(timer, 0, &every, NULL) == 0;
}

static void end_ticks (void) {
  if (event >= 0)
    close(event);
  else
    timer_delete(timer);
  event = -1;
}

/* }================================================================== */

static int watch (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argcheck(L, co != NULL && taken.nthreads < THREADS, 1, "thread");
  taken.threads[taken.nthreads++] = co;
  return 0;
}

static int start (lua_State *L) {
  struct sigaction act = {.sa_handler = take, .sa_flags = SA_RESTART};
  signal(SIGSEGV, give_up);
  taken.nthreads = 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  taken.threads[taken.nthreads++] = lua_tothread(L, -1);
  if (sigaction(SIGALRM, &act, NULL) != 0)
    return luaL_error(L, "no signal");
  if (begin_event())
    return 0;
  if (event >= 0)
    close(event);
  event = -1;
  return begin_timer() ? 0 : luaL_error(L, "no timer");
}

/* Ticks by function. */
static int stop (lua_State *L) {
  end_ticks();
  signal(SIGALRM, SIG_IGN);     /* one may be under way */
  signal(SIGSEGV, SIG_DFL);
  lua_createtable(L, 0, taken.nkeys);
  for (int i = 0; i < taken.nkeys; i++) {
    lua_pushinteger(L, (lua_Integer)taken.counts[i]);
    lua_setfield(L, -2, taken.keys[i]);
  }
  return 1;
}

int luaopen_sampled (lua_State *L);

__attribute__((visibility("default")))
int luaopen_sampled (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"start", start}, {"stop", stop}, {"watch", watch}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
