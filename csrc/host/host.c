/*
** host.c - where a state's host is found, and what is known of the state.
*/
#include "host/host.h"

#include "direct/frame.h"
#include "direct/proof.h"

/* By the address of a constant, which needs no string and no allocation: it is
   asked in the hook and in finalizers. */
tg_Host *tg_host_find (lua_State *L) {
  tg_Host *h;
  TG_STACK_GUARD(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_host);
  h = lua_touserdata(L, -1);
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  tg_assert(h == NULL || h->registry == lua_topointer(L, LUA_REGISTRYINDEX));
  return h;
}

/* A thread is known by the address of this. */
static _Thread_local char self;

void tg_host_claim (tg_Host *h) {
  atomic_store_explicit(&h->home, &self, memory_order_relaxed);
}

void tg_host_leave (tg_Host *h) {
  atomic_store_explicit(&h->home, NULL, memory_order_relaxed);
}

bool tg_host_is_home (const tg_Host *h) {
  const void *home = atomic_load_explicit(&((tg_Host *)(uintptr_t)h)->home,
                                          memory_order_relaxed);
  return home == &self;
}

/* "__name" stays where it is in memory while the registry has it. */
void tg_host_read_directly (tg_Host *h, lua_State *L) {
  h->direct = tg_proof_holds(L);
  if (!h->direct)
    return;
  lua_rawgeti(L, LUA_REGISTRYINDEX, TG_KEY_NAME);
  h->name_key = tg_direct_pushed(L).u.p;
  h->shared = tg_direct_shared(L);
  lua_pop(L, 1);
}
