/*
** session.c - where a state's session is found, and the list of all sessions of
** the process. The list may be used on any thread; a session is used on the one
** that runs its state.
*/
#include <pthread.h>

#include "state/session.h"

/* By the address of a constant, which needs no string and no allocation: it is
   asked in the hook and in finalizers. */
tg_Session *tg_session_find (lua_State *L) {
  tg_Session *s;
  TG_STACK_GUARD(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_session);
  s = lua_touserdata(L, -1);
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  tg_assert(s == NULL || s->registry == lua_topointer(L, LUA_REGISTRYINDEX));
  return s;
}

/* All sessions of the process, whatever thread they are on: each must be told
   of a fork and of the process's end (session/process.c). */
static struct {
  pthread_mutex_t mutex;
  tg_Session *first;
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void tg_sessions_hold (void) {
  pthread_mutex_lock(&all.mutex);
}

void tg_sessions_release (void) {
  pthread_mutex_unlock(&all.mutex);
}

tg_Session *tg_sessions_first (void) {
  return all.first;
}

/* They are not freed: each is its state's. */
void tg_sessions_forget (void) {
  all.first = NULL;
}

void tg_sessions_add (tg_Session *s) {
  tg_sessions_hold();
  s->next = all.first;
  all.first = s;
  tg_sessions_release();
}

/* After the process has begun to exit the list is empty, and states may still
   be closed. */
void tg_sessions_remove (tg_Session *s) {
  tg_sessions_hold();
  tg_Session **p = &all.first;
  while (*p != NULL && *p != s)
    p = &(*p)->next;
  if (*p != NULL)
    *p = s->next;
  tg_sessions_release();
}
