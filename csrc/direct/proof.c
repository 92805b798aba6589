/*
** proof.c - runs the probes, keeps the verdict. It is one for the process, since
** a process has one interpreter's code; the mutex makes it once. Costs less than
** a millisecond. Without memory there is no proof, and the public API is used.
*/
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "direct/proof.h"
#include "base/alloc.h"
#include "direct/probe.h"

#define ARENA ((size_t)2 << 20)

tg_DirectFacts tg_direct_facts;

/* ---- the arena ---- */

/* Nothing is given back: a probe is short, and what was freed may still be
   looked at. The last block grows in place. */
static void *allocate (void *ud, void *block, size_t old, size_t size) {
  tg_Probe *p = ud;
  size_t need = (size + 15) & ~(size_t)15;
  if (size == 0)
    return NULL;
  if (block != NULL && size <= old)
    return block;
  if (need > p->size - p->used)
    return NULL;
  uint8_t *fresh = p->arena + p->used;
  p->used += need;
  if (block != NULL)
    memcpy(fresh, block, old);
  return fresh;
}

bool tg_probe_inside (const tg_Probe *p, const void *at, size_t size) {
  uintptr_t from = (uintptr_t)p->arena, to = from + p->used;
  return (uintptr_t)at >= from && (uintptr_t)at < to
         && size <= to - (uintptr_t)at;
}

bool tg_probe_check (tg_Probe *p, bool ok, const char *what) {
  if (!ok && p->fault == NULL)
    p->fault = what;
  return ok;
}

tg_Probe *tg_probe_of (lua_State *L) {
  void *ud;
  lua_getallocf(L, &ud);
  return ud;
}

/* ---- the verdict ---- */

static int run_probes (lua_State *L) {
  tg_Probe *p = tg_probe_of(L);
  tg_probe_values(p);
  if (p->fault == NULL)
    tg_probe_frames(p);
  return 0;
}

static lua_State *new_state (tg_Probe *p) {
#if LUA_VERSION_NUM >= 505
  return lua_newstate(allocate, p, luaL_makeseed(NULL));
#else
  return lua_newstate(allocate, p);
#endif
}

static const char *try_layout (void) {
  tg_Probe p = {.arena = tg_calloc(1, ARENA), .size = ARENA};
  if (p.arena == NULL || (p.L = new_state(&p)) == NULL) {
    tg_free(p.arena);
    return "there is no memory to try it";
  }
  lua_pushcfunction(p.L, run_probes);
  int status = lua_pcall(p.L, 0, 0, 0);
  tg_probe_check(&p, status == LUA_OK, "trying it raised an error");
  lua_close(p.L);
  tg_free(p.arena);
  return p.fault;
}

/* What can be known without looking at anything. */
static const char *unfit_machine (void) {
  const uint16_t one = 1;
  if (sizeof(void *) != 8 || sizeof(lua_Integer) != 8
      || sizeof(lua_Number) != 8 || sizeof(size_t) != 8)
    return "numbers or pointers are not of 64 bits";
  if (*(const uint8_t *)&one != 1)
    return "the machine is not little-endian";
  return NULL;
}

static const char *find_objection (void) {
  const char *wish = getenv("TRACEGRIP_DIRECT");
  if (wish != NULL && strcmp(wish, "0") == 0)
    return "TRACEGRIP_DIRECT=0";
  const char *unfit = unfit_machine();
  return (unfit != NULL) ? unfit : try_layout();
}

const char *tg_proof_objection (void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static bool known;
  static const char *objection;
  pthread_mutex_lock(&mutex);
  if (!known)
    objection = find_objection();
  known = true;
  const char *found = objection;
  pthread_mutex_unlock(&mutex);
  return found;
}

bool tg_proof_holds (lua_State *L) {
  lua_Debug ar;
  if (tg_proof_objection() != NULL)
    return false;
  const void *frame = tg_direct_running(L);
  return tg_direct_top(L, frame) == lua_gettop(L)
         && (!lua_getstack(L, 0, &ar) || frame == (const void *)ar.i_ci);
}
