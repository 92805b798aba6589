#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <lualib.h>

#include "server/host.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "server/lines.h"
#include "text/outlet.h"
#include "base/quiet.h"

#define HOST "tracegrip.host"

#define SECOND UINT64_C(1000000000)
#define ANSWER_NS (10 * SECOND)   /* for opening a socket */
#define PARTING_NS SECOND         /* for the last frames of a state */
#define PARTING_MS 1000
#define KEPT 1024                 /* descriptors a child must close */

/* A state that listens. */
typedef struct Entry {
  struct Entry *next;
  tg_Line *line;                  /* pins */
  bool closing, told;
} Entry;

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool ready;                     /* 'changed' is, in this process */
  pthread_t thread;
  bool running;                   /* to be joined */
  bool ended;                     /* has returned */
  bool stopping, stop_told;
  int bell;
  tg_Order *orders;                  /* borrows; not answered */
  Entry *entries;                 /* owns */
  uint64_t doors, orders_placed;  /* so far */
  unsigned child;                 /* forks between us and the first process */
  char *path, *cpath;             /* owns: package.path and package.cpath */
  char trouble[256];              /* why it ended, if it should not have */
  int kept[KEPT];
  int nkept;
} host = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* With the mutex. */
static Entry *find_entry (uint64_t door) {
  Entry *e = host.entries;
  while (e != NULL && e->line->door != door)
    e = e->next;
  return e;
}

static void ring (void) {
  uint64_t one = 1;
  int error = errno;
  if (write(host.bell, &one, sizeof one) < 0)
    errno = error;                /* it rings already */
}

/* Waits, with the mutex, for something to change; false when time is up. */
static bool wait_until (const struct timespec *until) {
  return pthread_cond_timedwait(&host.changed, &host.mutex, until)
         != ETIMEDOUT;
}

/*
** {==================================================================
** The server's thread
** ===================================================================
*/

static void set_path (lua_State *L, const char *field, const char *path) {
  lua_getglobal(L, LUA_LOADLIBNAME);
  lua_pushstring(L, path);
  lua_setfield(L, -2, field);
  lua_pop(L, 1);
}

static void call_require (lua_State *L, const char *module) {
  lua_getglobal(L, "require");
  lua_pushstring(L, module);
  lua_call(L, 1, 1);
}

/* luv has the whole process ignore SIGPIPE; here all signals are blocked, and
   elsewhere it is the program's. */
static void load_luv (lua_State *L) {
  struct sigaction before;
  bool known = sigaction(SIGPIPE, NULL, &before) == 0;
  lua_getglobal(L, "pcall");
  lua_getglobal(L, "require");
  lua_pushliteral(L, "luv");
  lua_call(L, 2, 2);
  if (known)
    sigaction(SIGPIPE, &before, NULL);
  if (!lua_toboolean(L, -2))
    luaL_error(L, "the server needs the library luv: %s",
               lua_tostring(L, -1));
  lua_pop(L, 2);
}

static int serve (lua_State *L) {
  luaL_openlibs(L);
  set_path(L, "path", host.path);
  set_path(L, "cpath", host.cpath);
  load_luv(L);
  call_require(L, "tracegrip.server");
  lua_getfield(L, -1, "run");
  lua_newuserdatauv(L, 1, 0);
  luaL_setmetatable(L, HOST);
  lua_call(L, 1, 0);
  return 0;
}

/* Nobody speaks for those who listen any more. */
static void report_end (const char *trouble) {
  pthread_mutex_lock(&host.mutex);
  snprintf(host.trouble, sizeof host.trouble, "%s", trouble);
  for (const Entry *e = host.entries; e != NULL; e = e->next)
    tg_line_hang_up(e->line);
  host.ended = true;
  host.nkept = 0;
  pthread_cond_broadcast(&host.changed);
  pthread_mutex_unlock(&host.mutex);
}

static void *run (void *ud) {
  char trouble[256] = "";
  lua_State *L = luaL_newstate();
  (void)ud;
  if (L == NULL) {
    report_end("not enough memory");
    return NULL;
  }
  lua_pushcfunction(L, serve);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK)
    snprintf(trouble, sizeof trouble, "%s", luaL_tolstring(L, -1, NULL));
  lua_close(L);
  report_end(trouble);
  return NULL;
}

/* }================================================================== */

/*
** {==================================================================
** What its Lua sees
** ===================================================================
*/

static int host_fd (lua_State *L) {
  lua_pushinteger(L, host.bell);
  return 1;
}

static void set_string (lua_State *L, const char *key, const char *value) {
  if (value != NULL) {
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
  }
}

static void set_integer (lua_State *L, const char *key, lua_Integer value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, key);
}

static void push_order (lua_State *L, const tg_Order *o) {
  lua_createtable(L, 0, 6);
  set_string(L, "kind", o->kind);
  set_integer(L, "id", (lua_Integer)o->id);
  set_integer(L, "door", (lua_Integer)o->door);
  set_string(L, "title", o->title);
  set_string(L, "address", o->address);
  lua_createtable(L, 0, 5);
  set_string(L, "host", o->host);
  set_string(L, "path", o->path);
  set_string(L, "token", o->token);
  set_string(L, "defaults", o->defaults);
  if (o->port >= 0)
    set_integer(L, "port", o->port);
  lua_setfield(L, -2, "options");
}

/* An event that the server has not been told; the order, or what it is about.
   Strings of the order live until it is answered. */
typedef struct Event {
  const tg_Order *order;
  const char *kind;
  lua_Integer door;
} Event;

static bool entry_event (Event *event) {
  for (Entry *e = host.entries; e != NULL; e = e->next) {
    event->door = (lua_Integer)e->line->door;
    event->kind = "news";
    if (atomic_exchange(&e->line->news, false))
      return true;
    event->kind = "closed";
    if (e->closing && !e->told)
      return e->told = true;
  }
  return false;
}

static bool next_event (Event *event) {
  for (tg_Order *o = host.orders; o != NULL; o = o->next) {
    event->order = o;
    if (!o->taken)
      return o->taken = true;
  }
  event->order = NULL;
  if (entry_event(event))
    return true;
  event->kind = "stop";
  if (!host.stopping || host.stop_told)
    return false;
  return host.stop_told = true;
}

static int host_take (lua_State *L) {
  Event event;
  uint64_t rung;
  pthread_mutex_lock(&host.mutex);
  bool there = read(host.bell, &rung, sizeof rung) >= 0;
  there = next_event(&event);
  pthread_mutex_unlock(&host.mutex);
  if (!there)
    return 0;
  if (event.order != NULL) {
    push_order(L, event.order);
    return 1;
  }
  lua_createtable(L, 0, 2);
  set_string(L, "kind", event.kind);
  if (strcmp(event.kind, "stop") == 0)
    set_integer(L, "ms", PARTING_MS);
  else
    set_integer(L, "door", event.door);
  return 1;
}

static char *copy (const char *s) {
  return (s != NULL) ? tg_strdup(s, strlen(s)) : NULL;
}

/* answer(id, true, address); answer(id, nil, message, code). */
static int host_answer (lua_State *L) {
  uint64_t id = (uint64_t)luaL_checkinteger(L, 2);
  bool good = lua_toboolean(L, 3);
  const char *first = luaL_optstring(L, 4, NULL);
  const char *second = luaL_optstring(L, 5, NULL);
  pthread_mutex_lock(&host.mutex);
  tg_Order *o = host.orders;
  while (o != NULL && o->id != id)
    o = o->next;
  if (o != NULL && !o->answered) {
    o->answered = true;
    o->good = good;
    o->text[0] = copy(first);
    o->text[1] = copy(second);
    pthread_cond_broadcast(&host.changed);
  }
  pthread_mutex_unlock(&host.mutex);
  return 0;
}

static int host_line (lua_State *L) {
  uint64_t door = (uint64_t)luaL_checkinteger(L, 2);
  tg_Line *line = NULL;
  pthread_mutex_lock(&host.mutex);
  const Entry *e = find_entry(door);
  if (e != NULL)
    line = tg_line_pin(e->line);
  pthread_mutex_unlock(&host.mutex);
  if (line == NULL)
    return 0;
  tg_lines_push(L, line);     /* without memory one pin is lost */
  tg_line_unpin(line);
  return 1;
}

static int host_keep (lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 2);
  pthread_mutex_lock(&host.mutex);
  if (host.nkept < KEPT)
    host.kept[host.nkept++] = fd;
  pthread_mutex_unlock(&host.mutex);
  return 0;
}

static int host_drop (lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 2);
  pthread_mutex_lock(&host.mutex);
  for (int i = 0; i < host.nkept; i++) {
    if (host.kept[i] == fd) {
      host.kept[i] = host.kept[--host.nkept];
      break;
    }
  }
  pthread_mutex_unlock(&host.mutex);
  return 0;
}

/* }================================================================== */

/*
** {==================================================================
** The traced thread: starting and ending the other one
** ===================================================================
*/

static void free_paths (void) {
  tg_free(host.path);
  tg_free(host.cpath);
  host.path = host.cpath = NULL;
}

/* With the mutex. */
static bool start_thread (const char *path, const char *cpath) {
  if (!host.ready)
    tg_clock_condition(&host.changed);
  host.ready = true;
  host.path = copy(path);
  host.cpath = copy(cpath);
  host.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  host.ended = host.stopping = host.stop_told = false;
  host.trouble[0] = '\0';
  host.running = host.path != NULL && host.cpath != NULL && host.bell >= 0
                 && tg_quiet_thread(&host.thread, run, NULL);
  if (!host.running) {
    int error = errno;
    if (host.bell >= 0)
      close(host.bell);
    free_paths();
    errno = error;
  }
  return host.running;
}

/* Our code must stay where a thread that does not end may be in it. */
static void stay_loaded (void) {
  Dl_info info;
  if (dladdr(&host, &info) != 0)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

/* With the mutex: the thread has nothing to do any more. */
static void end_thread (void) {
  struct timespec until = tg_clock_after(PARTING_NS + ANSWER_NS);
  host.stopping = true;
  ring();
  while (!host.ended && wait_until(&until))
    continue;
  if (!host.ended) {
    pthread_detach(host.thread);
    stay_loaded();
    return;
  }
  pthread_mutex_unlock(&host.mutex);
  pthread_join(host.thread, NULL);
  pthread_mutex_lock(&host.mutex);
  close(host.bell);
  free_paths();
  host.running = false;
}

bool tg_host_begin (const char *path, const char *cpath) {
  tg_outlet_occupy();     /* the loop does not close a standard descriptor */
  pthread_mutex_lock(&host.mutex);
  if (host.running && host.ended)
    end_thread();
  bool ok = host.running || start_thread(path, cpath);
  pthread_mutex_unlock(&host.mutex);
  return ok;
}

void tg_host_end_idle (void) {
  pthread_mutex_lock(&host.mutex);
  if (host.entries == NULL && host.running)
    end_thread();
  pthread_mutex_unlock(&host.mutex);
}

int tg_host_bell (void) {
  return host.bell;
}

unsigned tg_host_child (void) {
  return host.child;
}

static void unlink_order (const tg_Order *o) {
  tg_Order **p = &host.orders;
  while (*p != o)
    p = &(*p)->next;
  *p = o->next;
}

void tg_host_order (tg_Order *o) {
  struct timespec until = tg_clock_after(ANSWER_NS);
  tg_Order **p = &host.orders;
  pthread_mutex_lock(&host.mutex);
  o->id = ++host.orders_placed;
  while (*p != NULL)
    p = &(*p)->next;
  *p = o;
  if (host.running && !host.ended)
    ring();
  while (!o->answered && host.running && !host.ended && wait_until(&until))
    continue;
  unlink_order(o);
  if (!o->answered) {
    o->text[0] = copy(*host.trouble ? host.trouble : "the server is silent");
    o->text[1] = copy("noServer");
  }
  pthread_mutex_unlock(&host.mutex);
}

bool tg_host_enter (tg_Line *line) {
  Entry *e = tg_calloc(1, sizeof *e);
  if (e == NULL)
    return false;
  e->line = tg_line_pin(line);
  pthread_mutex_lock(&host.mutex);
  line->door = ++host.doors;
  e->next = host.entries;
  host.entries = e;
  pthread_mutex_unlock(&host.mutex);
  return true;
}

static void unlink_entry (Entry *e) {
  Entry **p = &host.entries;
  while (*p != e)
    p = &(*p)->next;
  *p = e->next;
  tg_line_unpin(e->line);
  tg_free(e);
}

void tg_host_leave (uint64_t door) {
  pthread_mutex_lock(&host.mutex);
  Entry *e = find_entry(door);
  if (e != NULL) {
    bool served = host.running && !host.ended;
    e->closing = true;
    if (served)
      ring();
    pthread_mutex_unlock(&host.mutex);
    if (served)
      tg_line_await(e->line, false, PARTING_NS);
    pthread_mutex_lock(&host.mutex);
    unlink_entry(e);
  }
  pthread_mutex_unlock(&host.mutex);
  tg_host_end_idle();
}

/* }================================================================== */

/*
** {==================================================================
** Fork and exit
** ===================================================================
*/

/* The child has the descriptors but nobody who works with them: closed, so that
   clients see the end of the parent. What belongs to the lost thread stays
   where it is. */
static void become_child (void) {
  for (int i = 0; i < host.nkept; i++)
    close(host.kept[i]);
  if (host.running)
    close(host.bell);
  host.running = host.ended = host.ready = false;
  host.orders = NULL;
  host.entries = NULL;
  host.path = host.cpath = NULL;
  host.nkept = 0;
  host.child++;
}

void tg_host_fork (tg_Fork side) {
  if (side == TG_FORK_BEFORE)
    pthread_mutex_lock(&host.mutex);
  for (const Entry *e = host.entries; e != NULL; e = e->next)
    tg_line_fork(e->line, side);
  if (side == TG_FORK_BEFORE)
    return;
  if (side == TG_FORK_CHILD)
    become_child();
  pthread_mutex_unlock(&host.mutex);
}

void tg_host_finish (void) {
  struct timespec until = tg_clock_after(2 * PARTING_NS);
  pthread_mutex_lock(&host.mutex);
  if (host.running) {
    for (Entry *e = host.entries; e != NULL; e = e->next)
      e->closing = true;
    host.stopping = true;
    ring();
    while (!host.ended && wait_until(&until))
      continue;
  }
  pthread_mutex_unlock(&host.mutex);
}

/* }================================================================== */

void tg_host_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"fd", host_fd},
    {"take", host_take},
    {"answer", host_answer},
    {"line", host_line},
    {"keep", host_keep},
    {"drop", host_drop},
    {NULL, NULL}
  };
  if (luaL_newmetatable(L, HOST)) {
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  lua_pop(L, 1);
}
