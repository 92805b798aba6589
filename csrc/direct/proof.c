/*
** proof.c - runs the probes, keeps the verdict. It is one for the process,
** since a process has one interpreter's code; the mutex makes it once. Costs
** less than a millisecond. Without memory there is no proof, and the public
** API is used.
*/
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "direct/proof.h"
#include "base/atfork.h"
#include "direct/probe.h"

/* ---- the verdict ---- */

/* Protected, in the probe's state: it may be out of memory, or raise what it
   should not. */
static int run_probes (lua_State *L) {
  tg_Probe *p = tg_probe_of(L);
  tg_probe_values(p);
  if (p->fault == NULL)
    tg_probe_frames(p);
  if (p->fault == NULL) {
    tg_probe_hooks(p);
    tg_probe_cstack(p);
    tg_probe_collector(p);
    tg_probe_objects(p);
    tg_probe_hookcode(p);
  }
  return 0;
}

/* A fault is a literal: it outlives the probe. */
static const char *try_layout (const tg_Layout *layout) {
  tg_Probe p;
  tg_probe_assume(layout);
  if (!tg_probe_begin(&p))
    return "there is no memory to try it";
  lua_pushcfunction(p.L, run_probes);
  int status = lua_pcall(p.L, 0, 0, 0);
  tg_probe_check(&p, status == LUA_OK, "trying it raised an error");
  tg_probe_end(&p);
  return p.fault;
}

/* The layout is found by what holds, not by the release's number, which would
   not tell of one that a distribution has patched. The newest comes first; what
   is wrong with that is told if none holds. */
static const char *try_layouts (void) {
  const tg_Layout *layout = tg_layout_newest(LUA_VERSION_NUM);
  const char *fault = try_layout(layout), *other = fault;
  while (other != NULL && (layout = tg_layout_before(layout)) != NULL)
    other = try_layout(layout);
  return (other == NULL) ? NULL : fault;
}

/* What can be known without looking at anything. Offsets were written down for
   64 bits, and several fields are read as one number, lowest byte first
   (TG_AT_PROTO_LINE, TG_AT_PROTO_PARAMS). */
static const char *unfit_machine (void) {
  const uint16_t one = 1;
  if (sizeof(void *) != 8 || sizeof(lua_Integer) != 8
      || sizeof(lua_Number) != 8 || sizeof(size_t) != 8)
    return "numbers or pointers are not of 64 bits";
  if (*(const uint8_t *)&one != 1)
    return "the machine is not little-endian";
  return NULL;
}

/* Why memory is not read, NULL if it is: a wish first, then what costs nothing
   to find out. The wish is for whoever doubts what a trace says: the same
   program with and without must give the same packets. */
static const char *find_objection (void) {
  const char *wish = getenv("TRACEGRIP_DIRECT");
  if (wish != NULL && strcmp(wish, "0") == 0)
    return "TRACEGRIP_DIRECT=0";
  const char *unfit = unfit_machine();
  return (unfit != NULL) ? unfit : try_layouts();
}

static struct {
  pthread_mutex_t mutex;
  bool known;
  const char *objection;
} verdict = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* A fork waits for a proof that another thread has begun. Its child would not
   have that thread, and wait for the verdict for ever. */
static void at_fork (tg_AtFork side) {
  tg_atfork_mutex(&verdict.mutex, side);
}

/* A mutex rather than pthread_once, which cannot be held over a fork. */
const char *tg_proof_objection (void) {
  tg_atfork_register(TG_ATFORK_PROOF, at_fork, NULL);
  pthread_mutex_lock(&verdict.mutex);
  if (!verdict.known)
    verdict.objection = find_objection();
  verdict.known = true;
  const char *found = verdict.objection;
  tg_assert(verdict.known);
  pthread_mutex_unlock(&verdict.mutex);
  return found;
}

/* The proof was given on another state. That this one is of the same
   interpreter is not said by anything: two may be linked into one program. So
   the two facts that all others start from, its frame and its stack, are
   compared with the public API here as well. */
bool tg_proof_holds (lua_State *L) {
  lua_Debug ar;
  if (tg_proof_objection() != NULL)
    return false;
  const void *frame = tg_direct_running(L);
  return tg_direct_top(L, frame) == lua_gettop(L)
         && (!lua_getstack(L, 0, &ar) || frame == (const void *)ar.i_ci);
}
