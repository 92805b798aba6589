#include <pthread.h>
#include <string.h>
#include <time.h>

#include "drain.h"
#include "session/tracing.h"
#include "trace/trace.h"

#ifdef TG_TEST

#define DRAIN "tracegrip.drain"
#define POLL_NS UINT64_C(1000000)

typedef struct Drain {
  pthread_t thread;
  bool running;             /* to be joined */
  tg_Follower *follower;    /* pins */
  lua_Integer pause, every, leaves, hangs;
  _Atomic bool joining;     /* a hanging reader may go */
  _Atomic bool quit;        /* any may */
  /* the reader's thread's until it is joined */
  uint64_t packets, open;
  bool broken, ended;
} Drain;

static void rest (uint64_t ns) {
  struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
  nanosleep(&t, NULL);
}

static void look_at (Drain *d, const tg_Packet *p) {
  if (p->sequence != d->packets++)
    d->broken = true;
  if (p->why == TG_WHY_ENTER)
    d->open++;
  else if (d->open-- == 0)
    d->broken = true;
  if (d->every > 0 && d->packets % (uint64_t)d->every == 0)
    rest((uint64_t)d->pause * 1000000);
}

static bool reached (const Drain *d, lua_Integer n) {
  return n > 0 && d->packets >= (uint64_t)n;
}

/* Whether it goes on after what there was to read has been read. */
static bool read_some (Drain *d) {
  tg_Packet p;
  while (tg_follower_next(d->follower, &p)) {
    look_at(d, &p);
    if (reached(d, d->leaves) || atomic_load(&d->quit))
      return false;
    while (reached(d, d->hangs)) {
      if (atomic_load(&d->joining))
        return false;
      rest(POLL_NS);
    }
  }
  d->ended = tg_follower_state(d->follower) == TG_FOLLOWER_ENDED;
  return tg_follower_state(d->follower) == TG_FOLLOWER_RUNNING
         && !atomic_load(&d->quit);
}

static void *read_all (void *ud) {
  Drain *d = ud;
  while (read_some(d))
    tg_follower_wait(d->follower, POLL_NS);
  tg_follower_leave(d->follower);
  return NULL;
}

static void join (Drain *d) {
  atomic_store(&d->joining, true);
  if (d->running)
    pthread_join(d->thread, NULL);
  d->running = false;
  tg_follower_unpin(d->follower);
  d->follower = NULL;
}

static int drain__gc (lua_State *L) {
  Drain *d = luaL_checkudata(L, 1, DRAIN);
  atomic_store(&d->quit, true);
  join(d);
  return 0;
}

static int drain_join (lua_State *L) {
  Drain *d = luaL_checkudata(L, 1, DRAIN);
  join(d);
  lua_newtable(L);
  lua_pushinteger(L, (lua_Integer)d->packets);
  lua_setfield(L, -2, "packets");
  lua_pushboolean(L, !d->broken);
  lua_setfield(L, -2, "whole");
  lua_pushboolean(L, d->ended);
  lua_setfield(L, -2, "ended");
  return 1;
}

static lua_Integer field (lua_State *L, const char *name, lua_Integer absent) {
  lua_getfield(L, 2, name);
  lua_Integer n = luaL_optinteger(L, -1, absent);
  lua_pop(L, 1);
  return n;
}

static Drain *new_drain (lua_State *L) {
  Drain *d = lua_newuserdatauv(L, sizeof *d, 0);
  memset(d, 0, sizeof *d);
  if (luaL_newmetatable(L, DRAIN)) {
    lua_pushcfunction(L, drain__gc);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, drain_join);
    lua_setfield(L, -2, "join");
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
  d->pause = field(L, "pause", 0);
  d->every = field(L, "every", 0);
  d->leaves = field(L, "leaves", 0);
  d->hangs = field(L, "hangs", 0);
  return d;
}

int drain_start (lua_State *L) {
  tg_Trace *t = luaL_checkudata(L, 1, TG_TRACE);
  tg_Selection selection = {0};
  lua_settop(L, 2);
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_argcheck(L, t->session != NULL && t->end == TG_END_NOT
                   && t->follower == NULL, 1, "not running");
  lua_Integer patience = field(L, "patience", 5000);
  Drain *d = new_drain(L);
  if (tg_selection_add(&selection, &t->options))
    d->follower = tg_follower_new(t->stream, t->start, &selection,
                                  (uint64_t)patience * 1000000);
  tg_selection_clear(&selection);
  if (d->follower == NULL)
    return luaL_error(L, "not enough memory");
  tg_tracing_tap(t->session, t, d->follower);
  d->running = pthread_create(&d->thread, NULL, read_all, d) == 0;
  return 1;
}

#else

int drain_start (lua_State *L) {
  return luaL_error(L, "not in this build");
}

#endif
