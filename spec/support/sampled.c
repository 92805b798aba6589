/*
** sampled.c - what an untraced program spends its time on, seen from outside
** of its interpreter (for truth_spec).
**
** A hook sees a tick at the next instruction that looks for one, which may be
** in another function by then. Here the signal's handler itself looks at the
** running CallInfo, through lua_getstack and lua_getinfo, of which "S" and "n"
** only read and allocate nothing. That is no way for a profiler: a CallInfo may
** be half made when the signal comes, and still have what it had before, with a
** stack that was freed since. Such a tick is dropped, if need be by a SIGSEGV.
*/
#include <lua.h>
#include <lauxlib.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EVERY_NS 97000
#define THREADS 8
#define KEYS 64

static struct {
  lua_State *threads[THREADS];  /* those that resume before those resumed */
  int nthreads;
  char keys[KEYS][32];          /* a function's line, or a C function's name */
  unsigned long counts[KEYS];
  int nkeys;
  timer_t timer;
} taken;

static sigjmp_buf out;

/* In the handler, where else there is none. */
static void give_up (int sig) {
  (void)sig;
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
            || (status == LUA_YIELD && resumes(taken.threads[i - 1]))))
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

static void take (int sig) {
  lua_Debug ar;
  char key[32];
  (void)sig;
  if (sigsetjmp(out, 1) != 0)
    return;
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

static int watch (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argcheck(L, co != NULL && taken.nthreads < THREADS, 1, "thread");
  taken.threads[taken.nthreads++] = co;
  return 0;
}

static int start (lua_State *L) {
  struct sigaction act = {.sa_handler = take, .sa_flags = SA_RESTART};
  struct sigevent to = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  struct itimerspec every = {{0, EVERY_NS}, {0, EVERY_NS}};
  signal(SIGSEGV, give_up);
  taken.nthreads = 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  taken.threads[taken.nthreads++] = lua_tothread(L, -1);
  if (sigaction(SIGALRM, &act, NULL) != 0
      || timer_create(CLOCK_MONOTONIC, &to, &taken.timer) != 0
      || timer_settime(taken.timer, 0, &every, NULL) != 0)
    return luaL_error(L, "no timer");
  return 0;
}

/* Ticks by function. */
static int stop (lua_State *L) {
  timer_delete(taken.timer);
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
