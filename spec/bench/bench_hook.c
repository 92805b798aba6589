/*
** bench_hook.c - what tracing is compared with: the cheapest hook that there
** can be, one that counts its events, the cheapest ticks, and a clock.
**
** hook("empty" | "count" | "clock" | nil) sets or removes a hook for calls and
** returns, hook "calls" one for calls, in the calling coroutine; "clock" reads
** the time, as whoever tells how long a call took has to; coroutines made from
** then on inherit it, as they do any hook. count() is how many events were
** counted since the hook was set; ticks(hz | nil) begins or ends signals to the
** calling thread, so many a second of its processor time, of the clock that
** samples have (ticker.h): their handler does nothing. now() is this thread's
** processor time in nanoseconds, so that what else the machine does counts
** less.
*/
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "lua.h"

#include "lauxlib.h"

static uint64_t events;
static volatile uint64_t looked;

static void empty (lua_State *L, lua_Debug *ar) {
  (void)L;
  (void)ar;
}

static void count (lua_State *L, lua_Debug *ar) {
  (void)L;
  (void)ar;
  events++;
}

/* The cheapest clock that there is, as base/clock.h has it. */
static uint64_t read_clock (void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

static void look (lua_State *L, lua_Debug *ar) {
  (void)L;
  (void)ar;
  looked = read_clock();
}

static int bench_hook (lua_State *L) {
  static const char *const names[] = {"none", "empty", "count", "clock",
                                      "calls", NULL};
  static const lua_Hook hooks[] = {NULL, empty, count, look, empty};
  static const int both = LUA_MASKCALL | LUA_MASKRET;
  const int masks[] = {0, both, both, both, LUA_MASKCALL};
  int which = luaL_checkoption(L, 1, "none", names);
  events = 0;
  lua_sethook(L, hooks[which], masks[which], 0);
  return 0;
}

static int bench_count (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)events);
  return 1;
}

/* ---- ticks ---- */

static int ticking = -1;    /* the event's descriptor */

static void do_nothing (int signal) {
  (void)signal;
}

static int open_ticks (uint64_t period_ns) {
  struct perf_event_attr a;
  memset(&a, 0, sizeof a);
  a.size = sizeof a;
  a.type = PERF_TYPE_SOFTWARE;
  a.config = PERF_COUNT_SW_TASK_CLOCK;
  a.sample_period = period_ns;
  a.wakeup_events = 1;
  a.exclude_kernel = a.exclude_hv = a.disabled = 1;
  return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1,
                      PERF_FLAG_FD_CLOEXEC);
}

/* False if the kernel forbids it. */
static int begin_ticks (lua_Integer hz) {
  struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
  struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
  ticking = open_ticks(UINT64_C(1000000000) / (uint64_t)hz);
  return ticking >= 0 && sigaction(SIGRTMIN, &action, NULL) == 0
         && fcntl(ticking, F_SETFL, O_ASYNC) == 0
         && fcntl(ticking, F_SETSIG, SIGRTMIN) == 0
         && fcntl(ticking, F_SETOWN_EX, &owner) == 0
         && ioctl(ticking, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

static int bench_ticks (lua_State *L) {
  lua_Integer hz = luaL_optinteger(L, 1, 0);
  if (ticking >= 0)
    close(ticking);
  ticking = -1;
  if (hz > 0 && !begin_ticks(hz))
    return luaL_error(L, "no ticks of a thread's processor time here");
  return 0;
}

/* ---- the clock ---- */

static int bench_now (lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  lua_pushinteger(L, (lua_Integer)t.tv_sec * 1000000000 + t.tv_nsec);
  return 1;
}

static const luaL_Reg functions[] = {
  {"hook", bench_hook},
  {"count", bench_count},
  {"ticks", bench_ticks},
  {"now", bench_now},
  {NULL, NULL}
};

__attribute__((visibility("default")))
int luaopen_bench_hook (lua_State *L);

int luaopen_bench_hook (lua_State *L) {
  luaL_checkversion(L);
  luaL_newlib(L, functions);
  return 1;
}
