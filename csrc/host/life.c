/*
** life.c - see life.h: the list of all hosts, which may be used on any thread;
** how they begin and end.
*/
#include "host/life.h"

#include <pthread.h>

#include "base/atfork.h"
#include "host/part.h"
#include "host/running.h"

/* ---- all hosts ---- */

static struct {
  pthread_mutex_t mutex;
  tg_Host *first;
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void enlist (tg_Host *h) {
  pthread_mutex_lock(&all.mutex);
  h->next = all.first;
  all.first = h;
  pthread_mutex_unlock(&all.mutex);
}

/* After the process has begun to exit the list is empty, and states may still
   be closed. */
static void strike (tg_Host *h) {
  pthread_mutex_lock(&all.mutex);
  tg_Host **p = &all.first;
  while (*p != NULL && *p != h)
    p = &(*p)->next;
  if (*p != NULL)
    *p = h->next;
  pthread_mutex_unlock(&all.mutex);
}

bool tg_life_hold (void) {
  return pthread_mutex_trylock(&all.mutex) == 0;
}

void tg_life_let (void) {
  pthread_mutex_unlock(&all.mutex);
}

tg_Host *tg_life_host (const lua_State *main) {
  tg_Host *h = all.first;
  while (h != NULL && h->main != main)
    h = h->next;
  return h;
}

/* In the child all hosts are told, also those of other threads: these are not
   there. */
static void at_fork (tg_AtFork side) {
  if (side == TG_ATFORK_BEFORE) {
    pthread_mutex_lock(&all.mutex);
    return;
  }
  for (tg_Host *h = all.first; side == TG_ATFORK_CHILD && h != NULL;
       h = h->next) {
    tg_running_forked(h);
    tg_parts_forked(h);
  }
  pthread_mutex_unlock(&all.mutex);
}

/* Only plain memory is touched: no state is looked at, since the program may
   have been in the middle of anything when it called exit. Other threads may be
   at work in states of theirs, which are left alone. Hosts are not freed: each
   is its state's. */
static void at_exit (void) {
  pthread_mutex_lock(&all.mutex);
  for (const tg_Host *h = all.first; h != NULL; h = h->next) {
    if (tg_host_is_home(h))
      tg_parts_exiting(h);
  }
  all.first = NULL;
  pthread_mutex_unlock(&all.mutex);
}

/* Hosts come first of all places (atfork.h): what their parts write last goes
   through channels and stores. */
void tg_life_setup (void) {
  tg_atfork_register(TG_ATFORK_HOSTS, at_fork, at_exit);
}

/* ---- beginning and end ---- */

/* The string "__name" is kept where the hook finds it by an integer: a string
   would have to be made, which may collect garbage. So may what is made here,
   and a finalizer of the program's may begin a host then. The registry has the
   host before any other thread may hear of it. */
tg_Host *tg_life_begin (tg_Host *h, lua_State *L) {
  lua_pushliteral(L, "__name");
  lua_rawseti(L, LUA_REGISTRYINDEX, TG_KEY_NAME);
  tg_Host *first = tg_host_find(L);
  if (first != NULL) {
    lua_pop(L, 1);
    return first;
  }
  h->main = lx_mainthread(L);
  h->registry = lua_topointer(L, LUA_REGISTRYINDEX);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &tg_key_host);
  enlist(h);
  return h;
}

/* Any other finalizer of the state may still come after this one (lua_close
   calls finalizers in the reverse order of their marking, section 2.5.3 of the
   manual): it finds this mark instead of a host. A new host would have no
   finalizer any more (luaC_checkfinalizer in lgc.c), and be in the list of all
   when it is gone. */
void tg_life_end (tg_Host *h, lua_State *L) {
  tg_parts_close(h, L);
  tg_running_free(h);
  strike(h);
  lua_pushboolean(L, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &tg_key_host);
}

bool tg_life_ended (lua_State *L) {
  bool ended = lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_host) == LUA_TBOOLEAN;
  lua_pop(L, 1);
  return ended;
}
