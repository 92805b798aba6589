/*
** states.c - Lua states as a host has them: several in a process, on one thread
** or on many, closed and made again, forked, left by exit.
**
** A state made here is a host's: it reads LUA_PATH and LUA_CPATH, and what it
** runs comes as text. Results are strings, for they go from state to state.
*/
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lua.h"

#include "lauxlib.h"
#include "lualib.h"

#define STATE "spec.state"

typedef struct State {
  lua_State *L;         /* owns; NULL once closed */
  lua_State *co;        /* coroutine that resume() runs; pinned */
} State;

static State *check_state (lua_State *L) {
  State *s = luaL_checkudata(L, 1, STATE);
  luaL_argcheck(L, s->L != NULL, 1, "closed");
  return s;
}

/* Memory that is freed keeps what is in it, as other allocators than glibc's
   leave it. */
static void *keep (void *ud, void *block, size_t old, size_t size) {
  (void)ud;
  if (size == 0)
    return NULL;
  void *p = malloc(size);
  if (block != NULL && p != NULL)
    memcpy(p, block, (old < size) ? old : size);
  return p;
}

/* new([keeps]): what it frees stays as it is, if it 'keeps'. */
static int state_new (lua_State *L) {
  int keeps = lua_toboolean(L, 1);
  State *s = lua_newuserdatauv(L, sizeof *s, 0);
  s->L = s->co = NULL;
  luaL_setmetatable(L, STATE);
#if LUA_VERSION_NUM >= 505
  s->L = keeps ? lua_newstate(keep, NULL, 0) : luaL_newstate();
#else
  s->L = keeps ? lua_newstate(keep, NULL) : luaL_newstate();
#endif
  if (s->L == NULL)
    return luaL_error(L, "no memory");
  luaL_openlibs(s->L);
  return 1;
}

static int state_close (lua_State *L) {
  State *s = luaL_checkudata(L, 1, STATE);
  if (s->L != NULL)
    lua_close(s->L);
  s->L = NULL;
  return 0;
}

/* The values above index 'base' of 'from' as strings, to 'L'. */
static int give (lua_State *L, lua_State *from, int base) {
  int n = lua_gettop(from) - base;
  for (int i = 1; i <= n; i++) {
    size_t size;
    const char *text = luaL_tolstring(from, base + i, &size);
    lua_pushlstring(L, text, size);
    lua_pop(from, 1);
  }
  lua_settop(from, base);
  return n;
}

/* state:run(code): in its main thread; raises its errors. */
static int state_run (lua_State *L) {
  State *s = check_state(L);
  int base = lua_gettop(s->L);
  int failed = luaL_loadbuffer(s->L, luaL_checkstring(L, 2),
                               lua_rawlen(L, 2), "=state")
               || lua_pcall(s->L, 0, LUA_MULTRET, 0);
  int n = give(L, s->L, base);
  return failed ? lua_error(L) : n;
}

/* state:resume([code]) -> "yield", "end" or "error", values: a coroutine that
   the host runs, a fresh one for code. */
static int state_resume (lua_State *L) {
  State *s = check_state(L);
  int n;
  if (!lua_isnoneornil(L, 2)) {
    s->co = lua_newthread(s->L);
    lua_setfield(s->L, LUA_REGISTRYINDEX, "spec.coroutine");
    if (luaL_loadstring(s->co, luaL_checkstring(L, 2)) != LUA_OK)
      return luaL_error(L, "%s", lua_tostring(s->co, -1));
  }
  int status = lua_resume(s->co, NULL, 0, &n);
  lua_pushstring(L, (status == LUA_OK) ? "end"
                    : (status == LUA_YIELD) ? "yield" : "error");
  return 1 + give(L, s->co, lua_gettop(s->co) - n);
}

/* state:drop(): lets that coroutine go and collects it, without any call; the
   next one may well get its address, whichever state makes it. */
static int state_drop (lua_State *L) {
  State *s = check_state(L);
  lua_pushnil(s->L);
  lua_setfield(s->L, LUA_REGISTRYINDEX, "spec.coroutine");
  lua_gc(s->L, LUA_GCCOLLECT);
  lua_gc(s->L, LUA_GCCOLLECT);
  s->co = NULL;
  return 0;
}

/* ---- other threads ---- */

typedef struct Job {
  pthread_t thread;
  lua_State *L;         /* owns, if it is its own */
  char *code, *result;  /* own */
  int status;
} Job;

static void *work (void *ud) {
  Job *j = ud;
  j->status = luaL_dostring(j->L, j->code);
  const char *text = luaL_tolstring(j->L, -1, NULL);
  j->result = strdup(text);
  return NULL;
}

/* What a thread of an own state does, from making to closing it. */
static void *live (void *ud) {
  Job *j = ud;
  j->L = luaL_newstate();
  luaL_openlibs(j->L);
  work(j);
  lua_close(j->L);
  return NULL;
}

static int finish (lua_State *L, Job *j) {
  int status = j->status;
  lua_pushstring(L, j->result);
  free(j->code);
  free(j->result);
  return status;
}

/* state:elsewhere(code): as run, on another thread; one result. */
static int state_elsewhere (lua_State *L) {
  State *s = check_state(L);
  Job j = {.L = s->L, .code = strdup(luaL_checkstring(L, 2))};
  int top = lua_gettop(s->L);
  pthread_create(&j.thread, NULL, work, &j);
  pthread_join(j.thread, NULL);
  lua_settop(s->L, top);
  return finish(L, &j) ? lua_error(L) : 1;
}

#define MANY 64

/* together(code, ...): each in its own state and thread, at the same time;
   returns their results, raises an error of theirs. */
static int together (lua_State *L) {
  Job jobs[MANY] = {0};
  int n = lua_gettop(L), failed = 0;
  luaL_argcheck(L, n <= MANY, n, "too many");
  luaL_checkstack(L, n, NULL);
  for (int i = 0; i < n; i++)
    jobs[i].code = strdup(luaL_checkstring(L, i + 1));
  for (int i = 0; i < n; i++)
    pthread_create(&jobs[i].thread, NULL, live, &jobs[i]);
  for (int i = 0; i < n; i++)
    pthread_join(jobs[i].thread, NULL);
  for (int i = 0; i < n; i++) {
    if (finish(L, &jobs[i]) != LUA_OK && !failed)
      failed = lua_gettop(L);
  }
  if (failed) {
    lua_pushvalue(L, failed);
    return lua_error(L);
  }
  return n;
}

/* meet(n): returns when n threads have called it, which they do once. */
static int meet (lua_State *L) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
  static int here = 0;
  int n = (int)luaL_checkinteger(L, 1);
  pthread_mutex_lock(&lock);
  here++;
  pthread_cond_broadcast(&come);
  while (here < n)
    pthread_cond_wait(&come, &lock);
  pthread_mutex_unlock(&lock);
  return 0;
}

/* ---- the process ---- */

/* fork(f) -> status: f runs in the child, whose exit status is what f returns;
   128 + n for a signal. */
static int state_fork (lua_State *L) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    exit((int)lua_tointeger(L, -1));
  }
  waitpid(pid, &status, 0);
  lua_pushinteger(L, WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                         : WEXITSTATUS(status));
  return 1;
}

static void *leave (void *ud) {
  exit((int)(size_t)ud);
}

static void rest (long ns) {
  struct timespec t = {.tv_nsec = ns};
  nanosleep(&t, NULL);
}

static void linger (void) {
  rest(20000000);
}

static void *go_on (void *L) {
  lua_pcall(L, 0, 0, 0);
  _exit(0);
}

/* state:last(code): as run, on another thread, while this one, the process's
   first, ends. */
static int state_last (lua_State *L) {
  pthread_t thread;
  lua_State *own = check_state(L)->L;
  if (luaL_loadstring(own, luaL_checkstring(L, 2)) != LUA_OK
      || pthread_create(&thread, NULL, go_on, own) != 0)
    return luaL_error(L, "cannot go on");
  pthread_exit(NULL);
}

/* leave(status): another thread ends the process, which takes a moment in
   which this one goes on. */
static int state_leave (lua_State *L) {
  pthread_t thread;
  atexit(linger);
  pthread_create(&thread, NULL, leave,
                 (void *)(size_t)luaL_checkinteger(L, 1));
  pthread_detach(thread);
  return 0;
}

/* exit(status): as a host's, by the C library. */
static int state_exit (lua_State *L) {
  exit((int)luaL_checkinteger(L, 1));
}

/* thread(f): a coroutine that a C library makes. */
static int state_thread (lua_State *L) {
  lua_State *L1 = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, L1, 1);
  return 1;
}

/* pid(), to tell who writes. */
static int state_pid (lua_State *L) {
  lua_pushinteger(L, getpid());
  return 1;
}

/* ---- a host whose values look like those of lua.c ---- */

static int called;

static int count_call (lua_State *L) {
  (void)L;
  called++;
  return 1;
}

/* Values: a number, a pointer, a C function, a main chunk that runs. */
static int look_alike (lua_State *L) {
  lua_pushcfunction(L, count_call);
  lua_pushvalue(L, lua_upvalueindex(1));
  if (lua_pcall(L, 0, 0, 0) != LUA_OK)
    return lua_error(L);
  return 0;
}

/* alike(text) -> how often the host's C function was called meanwhile, which it
   does not do itself. */
static int state_alike (lua_State *L) {
  State *s = check_state(L);
  static char *nothing[1];
  called = 0;
  if (luaL_loadstring(s->L, luaL_checkstring(L, 2)) != LUA_OK)
    return luaL_error(L, "%s", lua_tostring(s->L, -1));
  lua_pushcclosure(s->L, look_alike, 1);
  lua_pushinteger(s->L, 1);
  lua_pushlightuserdata(s->L, nothing);
  if (lua_pcall(s->L, 2, 0, 0) != LUA_OK)
    return luaL_error(L, "%s", lua_tostring(s->L, -1));
  lua_pushinteger(L, called);
  return 1;
}

static const luaL_Reg methods[] = {
  {"alike", state_alike},
  {"run", state_run},
  {"resume", state_resume},
  {"drop", state_drop},
  {"elsewhere", state_elsewhere},
  {"last", state_last},
  {"close", state_close},
  {"__gc", state_close},
  {NULL, NULL}
};

static const luaL_Reg functions[] = {
  {"new", state_new},
  {"together", together},
  {"meet", meet},
  {"fork", state_fork},
  {"leave", state_leave},
  {"exit", state_exit},
  {"thread", state_thread},
  {"pid", state_pid},
  {NULL, NULL}
};

__attribute__((visibility("default")))
int luaopen_states (lua_State *L);

int luaopen_states (lua_State *L) {
  if (luaL_newmetatable(L, STATE)) {
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  luaL_newlib(L, functions);
  return 1;
}
